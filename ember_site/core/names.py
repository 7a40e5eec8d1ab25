"""Names that people give: one line of text that can be shown."""

from ember_site.core.errors import BadInput


def name_read(text: str, *, longest: int, place: str) -> str:
    """
    Give the name on one line, each run of white space as one space; it may be empty.

    Raises:
        BadInput: more than `longest` characters, or some that nobody can see or that turn the text around
            them. Where others read such a name, it could pass for another one.
    """
    name = " ".join(text.split())
    if len(name) > longest:
        raise BadInput(f"A name may have {longest} characters, this one has {len(name)}.", place=place)
    if not name.isprintable():
        raise BadInput("The name has characters that cannot be shown.", place=place)
    return name

"""
Every error code of the site with the sentence that explains it, in this one place.

`docs/errors.md` lists the same codes; a test compares the two. Codes of a replay's verdict
come from the simulator and are listed here too, so that pages, API and sockets say the same.
"""

from typing import Final

ERROR_SENTENCES: Final[dict[str, str]] = {
    # General
    "not_found": "There is nothing here, or you may not see it.",
    "forbidden": "You may not do this.",
    "sign_in_required": "Sign in first.",
    "wrong_state": "This cannot be done in the present state.",
    "bad_input": "Something in what was sent is not as expected.",
    "host_unknown": "This site does not answer under the host name that was asked for.",
    "too_large": "What was sent is larger than the limit.",
    "too_many": "Too many requests; wait and try again.",
    "method_not_allowed": "This address does not answer this method.",
    "unsupported_media_type": "This address does not take this kind of content.",
    "csrf": "The form was too old or came from another site; load the page again.",
    "not_acceptable": "This address cannot answer in the format that was asked for.",
    "bad_json": "What was sent is not well-formed JSON.",
    "bad_token": "The API token is unknown, revoked or expired.",
    "token_scope": "The API token may not do this; make one with a wider scope.",
    "too_many_tokens": "The account has as many API tokens as it may have; revoke one first.",
    "internal": "Something failed on our side; nothing you sent is to blame.",
    # Catalogue
    "suite_conflict": "A suite of this ID and version is imported already, with another hash.",
    # Runs and uploads
    "limit_exceeded": "The file or record is larger than a stated limit.",
    "record_incomplete": "The replay agrees with the record, but the run has not ended; it is never scored.",
    "scenario_unknown": "No scenario with the hash in the record's header is known here.",
    "replay_mismatch": "The replay of the recorded actions gives something else than the record says.",
    "record_format": "The file or record is not in the record format.",
    "verified": "The record is byte for byte what the replay gives.",
    "agent_kind": "Runs of this source may not be given to an agent of this kind.",
    "run_unavailable": "The record or replay of this run cannot be shown in its present state.",
    "run_withdrawn": "This run was withdrawn by its owner; it counts nowhere.",
    "store_unavailable": "The record store cannot be used just now. This is our fault; send the same again.",
    # Live episodes
    "message_binary": "Messages of an episode's socket are JSON text, not binary.",
    "message_too_large": "The message is larger than the limit.",
    "message_invalid": "The message is not one that this socket knows; place and reason are in the sentence.",
    "not_the_player": "Only the player of an episode may act in it; you watch.",
    "action_invalid": "The actions do not fit: one for each active person and none for anybody else.",
    "step_stale": "Another step than the next one was asked for, or it was made with other actions.",
    "episode_over": "The episode is over; no further step can be made.",
    "episode_frozen": "Rebuilding the episode gave another state, so it was stopped; this is our fault.",
    "busy": "The step could not be saved just now; nothing happened, so send it again.",
    "paused": "The episode was paused after a long time without a step; the next step resumes it.",
    "resumed": "The paused episode goes on.",
    "abandoned": "The episode was given up, because nobody went on with it.",
    "speed": "Who started a baseline changed its speed; carries the steps a second.",
    "pong": "Sign of life; carries the last step made.",
}


def sentence(code: str) -> str:
    """Give the sentence of a code, or the general one of an unknown code."""
    return ERROR_SENTENCES.get(code, ERROR_SENTENCES["internal"])

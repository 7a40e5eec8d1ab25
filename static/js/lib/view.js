// @ts-check
// What the board draws: one state of a scenario as plain values. Pure; runs under node.

/** @typedef {"active" | "evacuated" | "casualty"} Status */
/** @typedef {[number, number]} Cell row and column, from 0 */
/** @typedef {{id: string, row: number, col: number}} Exit */
/**
 * @typedef {{id: string, row: number, col: number, status: Status, since: number}} Person
 * since: the step in which the status was reached; 0 for active people
 */
/**
 * @typedef {object} View
 * @property {number} width
 * @property {number} height
 * @property {Uint8Array} walls 1 where nothing can stand, row-major
 * @property {Exit[]} exits
 * @property {Person[]} people
 * @property {Int32Array} burn step since which a cell burns, -1 never; a cell burns when 0 <= burn <= step
 * @property {number} step
 * @property {number} spreadInterval steps between two spreads; what burns for less is drawn as new
 */
/** @typedef {{width: number, height: number, obstacles: Cell[], exits: {id: string, position: Cell}[]}} Ground */
/**
 * @typedef {object} ScenarioData
 * @property {{width: number, height: number}} grid
 * @property {Cell[]} obstacles
 * @property {{id: string, position: Cell}[]} exits
 * @property {{id: string, position: Cell}[]} people
 * @property {Cell[]} ignitions
 * @property {{spread_interval: number}} fire
 */
/**
 * @typedef {object} ObservationData
 * @property {number} step
 * @property {Ground} map
 * @property {{id: string, position: Cell, status: Status}[]} people
 * @property {Cell[]} burning
 * @property {{spread_interval: number}} rules
 */
/**
 * @typedef {object} Delta
 * @property {number} step
 * @property {[string, number, number][]} moved
 * @property {[string, number, number][]} evacuated
 * @property {[string, number, number][]} casualties
 * @property {Cell[]} ignitions
 */
/**
 * @typedef {object} Track
 * @property {number} width
 * @property {number} height
 * @property {Cell[]} obstacles
 * @property {{id: string, position: Cell}[]} exits
 * @property {{id: string, position: Cell, moves: string, status: Status, end_step: number | null}[]} people
 *   moves: one of N, S, E, W or "." (did not move) for each step while active
 * @property {[number, number, number][]} burn row, column and the step since which the cell burns
 * @property {number} steps
 * @property {number} spread_interval
 */

/** The (row, col) offset of each direction. @type {Record<string, Cell>} */
export const DIRECTIONS = {
  north: [-1, 0],
  south: [1, 0],
  east: [0, 1],
  west: [0, -1],
};

/** @type {Record<string, Cell>} */
const MOVES = { N: DIRECTIONS.north, S: DIRECTIONS.south, E: DIRECTIONS.east, W: DIRECTIONS.west };

/**
 * @param {Ground} ground
 * @returns {{width: number, height: number, walls: Uint8Array, exits: Exit[]}}
 */
function groundOf({ width, height, obstacles, exits }) {
  const walls = new Uint8Array(width * height);
  for (const [row, col] of obstacles) walls[row * width + col] = 1;
  return {
    width,
    height,
    walls,
    exits: exits.map(({ id, position: [row, col] }) => ({ id, row, col })),
  };
}

/**
 * The state before the first step.
 * @param {ScenarioData} scenario the scenario file as parsed
 * @returns {View}
 */
export function viewFromScenario(scenario) {
  const { width, height } = scenario.grid;
  const burn = new Int32Array(width * height).fill(-1);
  for (const [row, col] of scenario.ignitions) burn[row * width + col] = 0;
  return {
    ...groundOf({ width, height, obstacles: scenario.obstacles, exits: scenario.exits }),
    people: scenario.people.map(({ id, position: [row, col] }) => ({ id, row, col, status: "active", since: 0 })),
    burn,
    step: 0,
    spreadInterval: scenario.fire.spread_interval,
  };
}

/**
 * The state that an observation shows.
 *
 * An observation does not say since when a cell burns or a person is out. What `previous`
 * knows is kept; a cell that burnt already is otherwise drawn as old unless fire can still
 * leave it.
 * @param {ObservationData} observation
 * @param {View | null} [previous] an earlier state of the same episode
 * @returns {View}
 */
export function viewFromObservation(observation, previous = null) {
  const ground = groundOf(observation.map);
  const known = previous && previous.step <= observation.step ? previous : null;
  if (known && sameCells(known.walls, ground.walls)) ground.walls = known.walls; // lets the board keep its layers
  const before = new Map(known?.people.map((person) => [person.id, person]));
  const people = observation.people.map(({ id, position: [row, col], status }) => {
    const same = before.get(id);
    const since = status === "active" ? 0 : same?.status === status ? same.since : observation.step;
    return { id, row, col, status, since };
  });
  const burn = burnOf(observation, ground.walls, known);
  return { ...ground, people, burn, step: observation.step, spreadInterval: observation.rules.spread_interval };
}

/**
 * @param {Uint8Array} a
 * @param {Uint8Array} b
 */
function sameCells(a, b) {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

/**
 * @param {ObservationData} observation
 * @param {Uint8Array} walls
 * @param {View | null} known
 */
function burnOf(observation, walls, known) {
  const { width, height } = observation.map;
  const hot = new Uint8Array(width * height);
  for (const [row, col] of observation.burning) hot[row * width + col] = 1;
  const burn = new Int32Array(width * height).fill(-1);
  const open = (/** @type {number} */ row, /** @type {number} */ col) =>
    row >= 0 && col >= 0 && row < height && col < width && !walls[row * width + col] && !hot[row * width + col];
  for (const [row, col] of observation.burning) {
    const index = row * width + col;
    const since = known ? known.burn[index] : -1;
    if (since >= 0) burn[index] = since;
    else {
      const front = Object.values(MOVES).some(([dr, dc]) => open(row + dr, col + dc));
      burn[index] = front ? observation.step : 0;
    }
  }
  return burn;
}

/**
 * The state one step later. The given view is left alone.
 * @param {View} view
 * @param {Delta} delta
 * @returns {View}
 * @throws {RangeError} the delta is not that of the next step
 */
export function applyDelta(view, delta) {
  if (delta.step !== view.step + 1) throw new RangeError(`expected step ${view.step + 1}, got ${delta.step}`);
  const { step } = delta;
  /** @type {Map<string, Partial<Person>>} */
  const changes = new Map();
  for (const [id, row, col] of delta.moved) changes.set(id, { row, col });
  for (const [id, row, col] of delta.evacuated) changes.set(id, { row, col, status: "evacuated", since: step });
  for (const [id, row, col] of delta.casualties) changes.set(id, { row, col, status: "casualty", since: step });
  const people = view.people.map((person) => {
    const change = changes.get(person.id);
    return change ? { ...person, ...change } : person;
  });
  let burn = view.burn;
  if (delta.ignitions.length) {
    burn = burn.slice();
    for (const [row, col] of delta.ignitions) burn[row * view.width + col] = step;
  }
  return { ...view, people, burn, step };
}

/**
 * @typedef {object} Unrolled a track laid out for quick seeks
 * @property {ReturnType<typeof groundOf>} ground
 * @property {Int32Array} burn
 * @property {Int32Array[]} cells for each person the cell index after 0, 1, 2… steps
 */
/** @type {WeakMap<Track, Unrolled>} */
const unrolled = new WeakMap();

/**
 * @param {Track} track
 * @returns {Unrolled}
 */
function unroll(track) {
  const { width, height } = track;
  const burn = new Int32Array(width * height).fill(-1);
  for (const [row, col, step] of track.burn) burn[row * width + col] = step;
  const cells = track.people.map(({ position: [row, col], moves }) => {
    const path = new Int32Array(moves.length + 1);
    path[0] = row * width + col;
    for (let i = 0; i < moves.length; i++) {
      const [dr, dc] = MOVES[moves[i]] ?? [0, 0];
      path[i + 1] = path[i] + dr * width + dc;
    }
    return path;
  });
  return { ground: groundOf(track), burn, cells };
}

/** @param {Track} track */
function unrolledOnce(track) {
  let known = unrolled.get(track);
  if (!known) unrolled.set(track, (known = unroll(track)));
  return known;
}

/**
 * The state of a recorded run after a step. A step past the end gives the last state.
 * @param {Track} track
 * @param {number} step
 * @returns {View} its burn also holds cells that burn later
 */
export function viewFromTrack(track, step) {
  const { ground, burn, cells } = unrolledOnce(track);
  const now = Math.max(0, Math.min(track.steps, Math.trunc(step) || 0));
  const people = track.people.map(({ id, status, end_step: end }, i) => {
    const over = end !== null && end <= now;
    const index = cells[i][Math.min(now, cells[i].length - 1)];
    return {
      id,
      row: Math.floor(index / track.width),
      col: index % track.width,
      status: over ? status : /** @type {Status} */ ("active"),
      since: over ? end : 0,
    };
  });
  return { ...ground, people, burn, step: now, spreadInterval: track.spread_interval };
}

/**
 * Whether a cell burns at the step of the view.
 * @param {Pick<View, "burn" | "step">} view
 * @param {number} cell its index, row-major
 */
export function isBurning(view, cell) {
  return view.burn[cell] >= 0 && view.burn[cell] <= view.step;
}

/**
 * How many people are inside, out and lost, and how many cells burn.
 * @param {View} view
 */
export function countView(view) {
  const counts = { active: 0, evacuated: 0, casualty: 0, burning: 0 };
  for (const person of view.people) counts[person.status]++;
  for (let cell = 0; cell < view.burn.length; cell++) if (isBurning(view, cell)) counts.burning++;
  return counts;
}

/** @param {number} burning */
export function fireText(burning) {
  return burning === 1 ? "1 cell burns" : `${burning} cells burn`;
}

/**
 * A text alternative for a board.
 * @param {View} view
 */
export function describeView(view) {
  const { active, evacuated, casualty, burning } = countView(view);
  return `Step ${view.step}: ${active} inside, ${evacuated} out, ${casualty} lost, ${fireText(burning)}.`;
}

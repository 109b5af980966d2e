import {isObject} from '../../base/json-object.ts'
import type {Json} from '../../providers/translation.ts'
import type {ToolOutcome} from '../../schema/server-tools.ts'
import type {RunOffer, ServerChoice} from './offer.ts'

/** One answer of the model. */
export interface Turn {
  readonly answer: Json
  /** Calls of tools of servers, in their order. */
  readonly calls: readonly TurnCall[]
  /** It calls functions of the client, too. */
  readonly calls_client: boolean
  /** False where it was cut, or failed: its calls may lack a part, and none is run. */
  readonly is_whole: boolean
}

/** A call of a tool; `args`: JSON text, as the model wrote it. */
export interface TurnCall {
  readonly id: string
  readonly function_name: string
  readonly args: string
}

export type Outcomes = ReadonlyMap<string, ToolOutcome>

/** Why a run ends that the model would continue. */
export type Stopped = 'max_turns' | 'budget_exhausted' | 'rate_limited' | 'shutting_down'

/** The error of a turn behind the first, as the client learns of it in a stream that has begun. */
export interface TurnFault {
  readonly status: number
  readonly message: string
}

/** The answer of a run as it grows: what the client is shown of all turns. */
export interface Transcript {
  /** Adds a turn with the ends of its calls; those without one were not run. */
  add(turn: Turn, outcomes: Outcomes): void
  /** The whole answer. `last`: the answer of the last turn. */
  whole(last: Json, stopped: Stopped | null): Json
  /** The text that an event of a turn becomes. */
  event(event: Json): string
  /** The answer whose events came since the last call of this; null where they broke off. */
  assembled(): Json | null
  /** The events of the ends of a turn's calls. */
  outcomes(turn: Turn, outcomes: Outcomes): string
  /** The last events. */
  end(last: Json, stopped: Stopped | null): string
  /** The last events of a run whose turn was refused. */
  failed(last: Json, fault: TurnFault): string
}

/** How a dialect says what a run does. Bodies are never changed in place. */
export interface RunDialect {
  /** Servers of the gateway that a body names; empty where it names none. Throws `body.invalid`. */
  choices(body: Json): readonly ServerChoice[]
  /** Names of the client's functions. */
  functionsOf(body: Json): ReadonlySet<string>
  /** The body of the first turn: functions in the place of servers, and earlier runs in the words of providers. */
  opened(body: Json, offer: RunOffer): Json
  turnOf(answer: Json, offer: RunOffer): Turn
  /** The body of the turn behind `turn`. */
  next(body: Json, turn: Turn, outcomes: Outcomes): Json
  transcript(body: Json, offer: RunOffer): Transcript
  /** True where providers keep answers by their ids, so that later requests name them. */
  readonly keeps_answers: boolean
}

/** An event of a stream as text. */
export function eventText(event: Json): string {
  const type = typeof event.type === 'string' ? `event: ${event.type}\n` : ''
  return `${type}data: ${JSON.stringify(event)}\n\n`
}

/** Adds the numbers of two usages, member by member; another value is the later one's. */
export function summed(one: unknown, other: unknown): unknown {
  if (typeof one === 'number' && typeof other === 'number') return one + other
  if (!isObject(one) || !isObject(other)) return other ?? one
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries([...keys].map(key => [key, summed(one[key], other[key])]))
}

/** The text of a result, or of the reason why there is none. */
export function outcomeOf(outcomes: Outcomes, id: string): ToolOutcome {
  return outcomes.get(id) ?? {is_error: true, text: 'The call was not run.'}
}

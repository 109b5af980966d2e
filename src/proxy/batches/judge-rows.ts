import type {After} from '../../base/delay.ts'
import {Refusal} from '../../base/errors.ts'
import type {PhaseOutcome} from '../../guardrails/run.ts'
import type {HookResult} from '../../schema/guardrails.ts'
import type {CallGuardrails} from '../call/call-guardrails.ts'
import {type RawLine, RawLines} from './raw-lines.ts'
import {type ReadRow, RowFault, readRow} from './row.ts'

/** Rows whose verdicts are waited for at once. */
const MOST_AT_ONCE = 8
/** For all checks of one row; each has its own deadline besides. */
const ROW_DEADLINE_MS = 60_000
/** How long rows are judged before others have their turn. */
const TURN_MS = 8

export interface RowsOptions {
  /** Of the lines that are held, and of one line. */
  readonly most_bytes: number
  /** The endpoint that the batch names, for rows that name none. */
  readonly url: string | null
  /** The reason why a row may not be changed; null: the row leaves as guardrails changed it. */
  readonly no_changes: string | null
  /** The file's name in results about an unreadable line. */
  readonly part: string
  readonly deadline_ms?: number
  readonly after: After
}

/**
 * Judges the rows of a file as they come, and gives their bytes in their order: each leaves when it has passed, a few
 * are judged at once. Of the file no more is held than these and a line that has begun.
 */
export class RowGate {
  readonly #guarded: CallGuardrails
  readonly #options: RowsOptions
  readonly #lines: RawLines
  #waiting: {readonly left: Promise<Buffer>; readonly bytes: number}[] = []
  #waiting_bytes = 0
  #turn_ms = performance.now()
  /** The line that was noted as unreadable last. */
  #unread_line = 0
  /** A verdict is waited for now. */
  is_waiting = false
  /** Every line was one that could be judged. */
  is_whole = true
  /** Guardrails changed a row. */
  has_changed = false

  constructor(guarded: CallGuardrails, options: RowsOptions) {
    this.#guarded = guarded
    this.#options = options
    this.#lines = new RawLines(options.most_bytes)
  }

  async *push(chunk: Buffer): AsyncGenerator<Buffer> {
    yield* this.#take(this.#lines.push(chunk))
  }

  /** The remaining bytes when the file has come whole. */
  async *end(): AsyncGenerator<Buffer> {
    yield* this.#take(this.#lines.end())
    while (this.#waiting.length > 0) yield await this.#next()
  }

  async *#take(lines: readonly RawLine[]): AsyncGenerator<Buffer> {
    for (const line of lines) {
      while (this.#is_full(line.raw.length)) yield await this.#next()
      const left = this.#leftOf(line)
      left.catch(nothing) // it is heard of in its turn
      this.#waiting.push({left, bytes: line.raw.length})
      this.#waiting_bytes += line.raw.length
      if (performance.now() - this.#turn_ms > TURN_MS) await this.#pause()
    }
  }

  /** Rows that have passed before `coming`, which is more of the file. */
  async *before(coming: Promise<unknown>): AsyncGenerator<Buffer> {
    let has_come = false
    const come = coming.then(nothing, nothing).then(() => {
      has_come = true
    })
    while (this.#waiting.length > 0) {
      await Promise.race([this.#waiting[0]!.left.then(nothing, nothing), come])
      if (has_come) return
      yield await this.#next()
    }
  }

  #is_full(more_bytes: number): boolean {
    const {length} = this.#waiting
    return (
      length >= MOST_AT_ONCE ||
      (length > 0 && this.#waiting_bytes + this.#lines.held_bytes + more_bytes > this.#options.most_bytes)
    )
  }

  async #next(): Promise<Buffer> {
    const {left, bytes} = this.#waiting[0]!
    this.is_waiting = true
    try {
      return await left
    } finally {
      this.is_waiting = false
      this.#waiting.shift()
      this.#waiting_bytes -= bytes
    }
  }

  #pause(): Promise<void> {
    return new Promise(resolve =>
      setImmediate(() => {
        this.#turn_ms = performance.now()
        resolve()
      }),
    )
  }

  #leftOf(line: RawLine): Promise<Buffer> {
    if (line.kind === 'blank') return Promise.resolve(line.raw)
    if (line.kind === 'long') return this.#unread(line)
    const {deadline_ms = ROW_DEADLINE_MS, after} = this.#options
    return within(
      this.#judge(line),
      deadline_ms,
      after,
      () => new Refusal('rows.late', {line: line.number, limit_ms: deadline_ms}),
    )
  }

  /** A line that is longer than guardrails read is a body that they cannot read. */
  async #unread({number, raw}: RawLine): Promise<Buffer> {
    this.is_whole = false
    if (number !== this.#unread_line) this.#guarded.noteUnread([`${this.#options.part}, line ${number}`])
    this.#unread_line = number
    return raw
  }

  async #judge({raw, start, end, number}: RawLine): Promise<Buffer> {
    const row = await read(raw.subarray(start, end), this.#options.url, number)
    const {endpoint, model, request, others} = row
    const of = {endpoint: endpoint ?? this.#guarded.endpoint, model}
    const judged = request && (await this.#guarded.judgeRow(request, of))
    const beside = await this.#guarded.judgeRow(others, of)
    const outcomes = judged ? [judged, beside] : [beside]
    this.#guarded.noteRow(together(outcomes, await lateResults(outcomes)), number)
    if (outcomes.some(({is_denied}) => is_denied)) throw this.#guarded.denied(number)
    if (!outcomes.some(({is_transformed}) => is_transformed)) return raw
    const {no_changes} = this.#options
    if (no_changes !== null) throw new Refusal('rows.redacted', {line: number, remedy: no_changes})
    this.has_changed = true
    const left = Buffer.from(row.withLeft(judged?.view.body, beside.view.body))
    return Buffer.concat([raw.subarray(0, start), left, raw.subarray(end)])
  }
}

const nothing = () => undefined

async function read(bytes: Buffer, url: string | null, line: number): Promise<ReadRow> {
  try {
    return await readRow(bytes, url)
  } catch (fault) {
    if (fault instanceof RowFault) throw new Refusal('rows.unjudged', {line, reason: fault.message}, {cause: fault})
    throw fault
  }
}

/** Hooks that no verdict waits for elsewhere: so many rows at once are not to wait in a queue. They decide nothing. */
async function lateResults(outcomes: readonly PhaseOutcome[]): Promise<readonly HookResult[]> {
  const late = await Promise.all(outcomes.map(({background}) => background ?? []))
  return late.flat()
}

/** One result of each hook: its verdict on the request, unless it failed beside it, or had none on that. */
function together(outcomes: readonly PhaseOutcome[], late: readonly HookResult[]): readonly HookResult[] {
  const all = new Map<string, HookResult>()
  for (const result of [...outcomes.flatMap(({results}) => results), ...late]) {
    const known = all.get(result.id)
    const is_worse = 'checks' in result && (!known || !('checks' in known) || (known.verdict && !result.verdict))
    if (!known || is_worse) all.set(result.id, result)
  }
  return [...all.values()]
}

async function within<T>(work: Promise<T>, limit_ms: number, after: After, late: () => Refusal): Promise<T> {
  let callOff = () => {}
  const over = new Promise<never>((_, reject) => {
    callOff = after(limit_ms, () => reject(late()))
  })
  try {
    return await Promise.race([work, over])
  } finally {
    callOff()
  }
}

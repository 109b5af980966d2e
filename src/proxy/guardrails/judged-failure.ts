import {Refusal} from '../../base/errors.ts'
import type {Hook} from '../../guardrails/hook.ts'
import type {CallGuardrails, ProviderFailure} from '../call/call-guardrails.ts'
import type {Stream} from '../upstream/stream.ts'

const NOT_JUDGED = 'The provider reported an error.'

/** An error inside a stream, as its guardrails left it: the attempt reports it, and logs it, in its own format. */
export class JudgedFailure {
  readonly #inner: Stream
  readonly #guarded: CallGuardrails
  readonly #hooks: readonly Hook[]
  readonly #status: number
  /** Null: there is none, or it was not judged yet. */
  judged: ProviderFailure | null = null

  constructor(inner: Stream, guarded: CallGuardrails, hooks: readonly Hook[], status: number) {
    this.#inner = inner
    this.#guarded = guarded
    this.#hooks = hooks
    this.#status = status
  }

  /** There is one, and it is to be judged. */
  get is_due(): boolean {
    return this.#inner.failed !== null && this.judged === null
  }

  /** False: it is denied. */
  async judge(): Promise<boolean> {
    this.judged = await this.#guarded.judgeFailure(this.#hooks, this.#inner.failed!, this.#status)
    return this.judged !== null
  }

  /** Why the provider's answer ends, in words that were judged. */
  get fault(): Refusal | null {
    const {fault, failed} = this.#inner
    if (fault?.code !== 'upstream.told' || !failed) return fault
    return new Refusal('upstream.told', {message: this.judged?.message ?? NOT_JUDGED}, {cause: fault.cause})
  }
}

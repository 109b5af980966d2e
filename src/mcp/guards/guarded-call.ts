import {isObject, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import {memberText, spliced} from '../../base/json-splice.ts'
import type {CheckContext} from '../../guardrails/check.ts'
import {fitsSchema} from '../../guardrails/fits-schema.ts'
import {loggedResults} from '../../guardrails/logged-results.ts'
import type {Restore} from '../../guardrails/pii/restore.ts'
import {type PhaseOutcome, runHooks} from '../../guardrails/run.ts'
import {toolView} from '../../guardrails/tool-view.ts'
import type {View} from '../../guardrails/view.ts'
import type {HookResult, HookResults, Side} from '../../schema/guardrails.ts'
import type {ToolGuardServices, ToolGuards} from '../call/tool-guards.ts'
import {kindOfResult} from '../content/results.ts'
import {edited} from '../wire/edits.ts'
import {
  answerText,
  errorMemberText,
  paramsText,
  type RpcAnswer,
  type RpcRequest,
  readMessage,
  resultText,
} from '../wire/messages.ts'

/** The facts of a call that its checks may read. */
export interface GuardedFacts {
  readonly workspace_id: string
  /** `server/tool`. */
  readonly model: string
  readonly metadata: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly trace: CheckContext['trace']
}

/** The status of a row whose call a guardrail denied, and of one where a check failed that denies nothing. */
const DENIED = 446
const FAILED = 246

/** Reads the `outputSchema` of the tool; null for none. */
export type ReadSchema = () => Promise<JsonObject | null>

/**
 * The guardrails of one call of a tool: their verdicts on its arguments and its answer, and what they leave of both.
 * Nothing else leaves the gateway, and nothing else is kept.
 */
export class GuardedCall {
  readonly #guards: ToolGuards
  readonly #facts: GuardedFacts
  readonly #services: ToolGuardServices
  #before: readonly HookResult[] = []
  #after: readonly HookResult[] = []
  #request: View | null = null
  #is_request_transformed = false
  #is_failed = false
  #restore: Restore | null = null
  #late: Promise<void>[] = []
  /** The sentence of the denial; null: nothing was denied. */
  denial: string | null = null

  constructor(guards: ToolGuards, facts: GuardedFacts, services: ToolGuardServices) {
    this.#guards = guards
    this.#facts = facts
    this.#services = services
  }

  /** True where the answer is judged: nothing of it leaves before. */
  get withholds(): boolean {
    return this.#guards.output.length > 0
  }

  /** Status of the row; null for that of the answer. */
  get status(): number | null {
    return this.denial !== null ? DENIED : this.#is_failed ? FAILED : null
  }

  get results(): HookResults {
    return loggedResults({before_request_hooks: this.#before, after_request_hooks: this.#after}, [])
  }

  /** Guardrails that the call does not wait for; null: there are none. */
  get late(): Promise<void> | null {
    if (this.#late.length === 0) return null
    const work = Promise.all(this.#late).then(() => undefined)
    this.#services.beside(work)
    return work
  }

  /** JSON text of the result that stands for a denied call. */
  get denialText(): string {
    return JSON.stringify({content: [{type: 'text', text: this.denial}], isError: true})
  }

  /** The request as the upstream is to have it and the log keeps it. `denial` says whether it leaves at all. */
  async judgeInput(message: RpcRequest): Promise<RpcRequest> {
    const given = own(message.params, 'arguments')
    const view = toolView('input', given ?? {})
    const outcome = await runHooks(this.#guards.input, view, this.#context('input', view, null))
    this.#before = outcome.results
    this.#note(outcome, added => {
      this.#before = [...this.#before, ...added]
    })
    this.#request = outcome.view
    this.#is_request_transformed = outcome.is_transformed
    this.#restore = outcome.restore
    if (!outcome.is_transformed || given === undefined) return message
    const text = spliced(memberText(paramsText(message)!, 'arguments')!, given, outcome.view.body)
    return readMessage(edited(message.text, [{path: ['params', 'arguments'], set: text}])) as RpcRequest
  }

  /** The answer as the client is to have it and the log keeps it. Questions pass: they are no answer yet. */
  async judgeOutput(answer: RpcAnswer, readSchema: ReadSchema): Promise<RpcAnswer> {
    const body = answer.result ?? (answer.error as unknown as JsonObject)
    if (!this.withholds || (answer.result && kindOfResult(answer.result) === 'input_required')) return answer
    const view = toolView('output', body)
    const outcome = await runHooks(this.#guards.output, view, this.#context('output', this.#request, view))
    this.#after = outcome.results
    this.#note(outcome, added => {
      this.#after = [...this.#after, ...added]
    })
    if (this.denial === null && !(await this.#isFitting(body, outcome.view.body, readSchema)))
      this.denial = denialBy(
        outcome.results.find(result => 'transformed' in result && result.transformed),
        this.#guards,
      )
    if (this.denial !== null) return answered(answer, {result: this.denialText})
    if (!outcome.is_transformed) return answer
    return answered(
      answer,
      answer.result
        ? {result: spliced(resultText(answer)!, body, outcome.view.body)}
        : {error: spliced(errorMemberText(answer)!, body, outcome.view.body)},
    )
  }

  /** JSON text of an answer with what was taken out of the arguments put back, for the client alone. */
  forClient(text: string): string {
    if (!this.#restore) return text
    const value = parsed(text) as JsonValue
    return spliced(text, value, this.#restore.restoreBody(value))
  }

  #note({is_denied, is_failed, results, background}: PhaseOutcome, add: (results: readonly HookResult[]) => void) {
    if (background) this.#late.push(background.then(add))
    this.#is_failed ||= is_failed
    if (is_denied)
      this.denial = denialBy(
        results.find(each => 'deny' in each && each.deny && !each.verdict),
        this.#guards,
      )
  }

  /** False where a redaction left structured content that is not of the tool's schema, or may not be. */
  async #isFitting(before: JsonObject, after: JsonValue, readSchema: ReadSchema): Promise<boolean> {
    const structured = own(after, 'structuredContent')
    if (structured === undefined || structured === own(before, 'structuredContent')) return true
    try {
      const schema = await readSchema()
      return schema === null || (await fitsSchema(schema, structured))
    } catch {
      return false
    }
  }

  #context(side: Side, request: View | null, response: View | null): CheckContext {
    const {workspace_id, model, metadata, headers, trace} = this.#facts
    return {
      ...this.#services.checkServices(workspace_id),
      ...{side, model, metadata, headers, trace, request, response},
      endpoint: 'proxy',
      provider: 'mcp',
      is_streaming: false,
      is_request_transformed: this.#is_request_transformed,
      response_status: response ? 200 : null,
    }
  }
}

function denialBy(result: HookResult | undefined, {names}: ToolGuards): string {
  const id = result?.id ?? ''
  return `Blocked by guardrail ${names.get(id) ?? id}`
}

function answered({id_text}: RpcAnswer, answer: {readonly result: string} | {readonly error: string}): RpcAnswer {
  const message = readMessage(answerText(id_text, answer))
  if (message.kind !== 'answer' || !isObject(message.value)) throw new Error('an answer is an answer')
  return message
}

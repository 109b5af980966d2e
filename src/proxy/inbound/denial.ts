import {Refusal} from '../../base/errors.ts'
import {deniedBody} from '../../guardrails/answer.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {HookResults} from '../../schema/guardrails.ts'

/** A guardrail denied a call or its answer (446). */
export class GuardrailDenial extends Refusal {
  /** The body of the response to the client. */
  readonly body: string

  /** True for what was found in a request that had begun to leave: its provider has no part in it. */
  readonly is_of_rows: boolean

  /** `line`: of the file that was denied. */
  constructor(endpoint: EndpointName, results: HookResults, line: number | null = null) {
    const where = line === null ? '' : ` at line ${line} of the file`
    super('guardrail.denied', {where})
    this.is_of_rows = line !== null
    this.body = JSON.stringify(deniedBody(endpoint, results, where))
  }
}

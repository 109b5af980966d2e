import {Refusal} from '../../base/errors.ts'
import {deniedBody} from '../../guardrails/answer.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {HookResults} from '../../schema/guardrails.ts'

/** A guardrail denied a call or its answer (446). */
export class GuardrailDenial extends Refusal {
  /** The body of the response to the client. */
  readonly body: string

  constructor(endpoint: EndpointName, results: HookResults) {
    super('guardrail.denied')
    this.body = JSON.stringify(deniedBody(endpoint, results))
  }
}

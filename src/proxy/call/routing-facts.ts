import type {RoutingFacts} from '../../routing/plan.ts'
import {wholeOf} from '../inbound/body.ts'
import type {Call} from './call.ts'

/**
 * The facts for conditions and sticky choices, read on demand. A class, for each object literal with accessors has a
 * hidden class of its own in V8's old space, which holds its call until the next full collection.
 */
export class CallFacts implements RoutingFacts {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  get metadata(): RoutingFacts['metadata'] {
    return this.#call.metadata
  }

  get params(): RoutingFacts['params'] {
    const {body} = this.#call
    return body.kind === 'json' ? wholeOf(body) : NO_PARAMS
  }

  get pathname(): string {
    return (this.#call.incoming.request.url ?? '').split('?', 1)[0]!
  }
}

const NO_PARAMS = {}

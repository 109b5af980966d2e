import type {EndpointName} from '../schema/endpoints.ts'
import type {Side} from '../schema/guardrails.ts'
import {type Json, withAll} from './json.ts'
import {type Slot, slotsOf} from './texts.ts'

/** The texts of a body, whatever its dialect. A view never changes: what rewrites gives a new one, or the same when nothing was rewritten. */
export interface View {
  readonly endpoint: EndpointName
  readonly side: Side
  readonly body: Json
  /** What verdicts are about: the judged texts that are not empty, a line break between two. */
  readonly text: string
  readonly texts: readonly string[]
  /** Each text of the body, judged or not, replaced where it stands by what `by` makes of it; all else stays as it is. */
  rewrite(by: (text: string) => string): View
  withBody(body: Json): View
}

export function viewOf(endpoint: EndpointName, side: Side, body: Json): View {
  let slots: readonly Slot[] | undefined
  let text: string | undefined
  const found = () => {
    slots ??= slotsOf(endpoint, side, body)
    return slots
  }
  const judged = () =>
    found()
      .filter(slot => slot.is_judged)
      .map(slot => slot.text)
  const view: View = {
    endpoint,
    side,
    body,
    get text() {
      text ??= judged().join('\n')
      return text
    },
    get texts() {
      return judged()
    },
    rewrite(by) {
      const edits = found().map(({path, text}) => ({path, put: by(text), text}))
      const changed = withAll(
        body,
        edits.filter(({put, text}) => put !== text),
      )
      return changed === body ? view : viewOf(endpoint, side, changed)
    },
    withBody: put => viewOf(endpoint, side, put),
  }
  return view
}

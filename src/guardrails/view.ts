import type {EndpointName} from '../schema/endpoints.ts'
import type {Side} from '../schema/guardrails.ts'
import type {JsonValue} from './json.ts'
import {type ByString, mapEveryString, mapStrings} from './strings.ts'
import {isGuarded, slotsOf} from './texts.ts'

/** A string of a body. */
export interface BodyString {
  readonly text: string
  /** The key that holds it in data of the caller's own: it may tell what the text is. Else nothing. */
  readonly called: string
  /** The provider repeats the request there: no part of its answer. */
  readonly is_echo: boolean
}

/**
 * The strings of a body, whatever its dialect. A view never changes: what rewrites gives a new one, or the same when
 * nothing was rewritten.
 */
export interface View {
  /**
   * The way of reading: in the dialect of its route, or as nothing but strings. `unread`: it is not read; `none`: there
   * is nothing to read.
   */
  readonly kind: 'dialect' | 'strings' | 'unread' | 'none'
  readonly endpoint: EndpointName
  readonly side: Side
  readonly body: JsonValue
  /**
   * The conversation: the texts that verdicts on prose are about and that are not empty (docs/guardrails.md, What a
   * check reads), a line break between two.
   */
  readonly text: string
  readonly texts: readonly string[]
  /** Every string that is forwarded, but for those in `LEFT_ALONE`. */
  readonly strings: readonly BodyString[]
  /**
   * The parts of an answer beside its texts, such as the arguments of tool calls and reasoning: a line break between
   * two. Nothing of a request but of an event of a realtime session.
   */
  readonly beside: string
  /** Each of the strings replaced where it stands by what `by` makes of it; all else stays as it is. */
  rewrite(by: ByString): View
  /** The same with pauses, where there may be many. */
  rewriting?(by: ByString): Generator<undefined, View>
  withBody(body: JsonValue): View
}

export function viewOf(endpoint: EndpointName, side: Side, body: JsonValue): View {
  if (!isGuarded(endpoint, side))
    return body === null ? emptyView(endpoint, side, body) : everyStringView(endpoint, side, body)
  return dialectView(endpoint, side, body)
}

/** A body in an unknown dialect, parsed: each of its strings is a text. */
function everyStringView(endpoint: EndpointName, side: Side, body: JsonValue): View {
  const found: BodyString[] = []
  const find = (text: string, called: string) => {
    found.push({text, called, is_echo: false})
    return text
  }
  mapEveryString(body, find, text => find(text, ''))
  const texts = found.map(({text}) => text)
  const view: View = {
    ...{kind: 'strings', endpoint, side, body, strings: found, texts, text: texts.join('\n'), beside: ''},
    rewrite(by) {
      const changed = mapEveryString(body, by)
      return changed === body ? view : everyStringView(endpoint, side, changed)
    },
    withBody: put => viewOf(endpoint, side, put),
  }
  return view
}

function emptyView(endpoint: EndpointName, side: Side, body: JsonValue): View {
  const view: View = {
    ...{kind: 'none', endpoint, side, body, strings: [], texts: [], text: '', beside: ''},
    rewrite: () => view,
    withBody: put => viewOf(endpoint, side, put),
  }
  return view
}

function dialectView(endpoint: EndpointName, side: Side, body: JsonValue): View {
  let texts: readonly string[] | undefined
  let text: string | undefined
  let strings: readonly BodyString[] | undefined
  let beside: string | undefined
  // An event of a session that has no text is nothing but strings: what a text must have, it may lack.
  const is_bare = endpoint === 'realtime' && slotsOf(endpoint, side, body).length === 0
  if (is_bare && stringsIn(body, endpoint, side).length === 0) return emptyView(endpoint, side, body)
  const view: View = {
    kind: is_bare ? 'strings' : 'dialect',
    endpoint,
    side,
    body,
    get text() {
      text ??= view.texts.join('\n')
      return text
    },
    get texts() {
      texts ??= is_bare
        ? view.strings.map(each => each.text)
        : slotsOf(endpoint, side, body)
            .filter(slot => slot.is_judged)
            .map(slot => slot.text)
      return texts
    },
    get strings() {
      strings ??= stringsIn(body, endpoint, side)
      return strings
    },
    get beside() {
      beside ??= side === 'input' && endpoint !== 'realtime' ? '' : besides(view)
      return beside
    },
    rewrite(by) {
      const changed = mapStrings(body, endpoint, side, by)
      return changed === body ? view : dialectView(endpoint, side, changed)
    },
    withBody: put => viewOf(endpoint, side, put),
  }
  return view
}

/** The view of a body that is missing, or that is not read. */
export function nothingOf(endpoint: EndpointName, side: Side, kind: 'unread' | 'none'): View {
  return {...emptyView(endpoint, side, null), kind}
}

function stringsIn(body: JsonValue, endpoint: EndpointName, side: Side): readonly BodyString[] {
  const found: BodyString[] = []
  mapStrings(body, endpoint, side, (text, called, is_echo) => {
    found.push({text, called, is_echo})
    return text
  })
  return found
}

function besides({strings, texts}: View): string {
  const judged_texts = new Set(texts)
  return strings
    .filter(each => !each.is_echo && !judged_texts.has(each.text))
    .map(each => each.text)
    .join('\n')
}

import {canonical, ENTERPRISE, GROUP, USER} from './names.ts'

/** The way to an attribute: `name.givenName`, or `department` of the object of a URN. */
export interface AttributePath {
  /** The extension whose object has it; null for the core. */
  readonly urn: string | null
  readonly name: string
  readonly sub: string | null
}

const NAME = /^[$a-z][\w$-]*$/i
const CORE = [USER, GROUP]

/** Reads an attribute path (RFC 7644 §3.10), names in any case; undefined for what is none. */
export function readPath(text: string): AttributePath | undefined {
  const {urn, rest} = splitUrn(text)
  if (urn !== null && rest === '') return {urn: null, name: urn, sub: null}
  const [name = '', sub, ...more] = rest.split('.')
  if (more.length > 0 || !NAME.test(name) || (sub !== undefined && !NAME.test(sub))) return undefined
  return {urn, name: canonical(name), sub: sub === undefined ? null : canonical(sub)}
}

/** The URN that a path begins with, null for one of the core, and what follows it. */
function splitUrn(text: string): {readonly urn: string | null; readonly rest: string} {
  const folded = text.toLowerCase()
  if (!folded.startsWith('urn:')) return {urn: null, rest: text}
  for (const core of CORE) {
    if (folded === core.toLowerCase()) return {urn: null, rest: text}
    if (startsWithUrn(folded, core)) return {urn: null, rest: text.slice(core.length + 1)}
  }
  if (folded === ENTERPRISE.toLowerCase()) return {urn: ENTERPRISE, rest: ''}
  if (startsWithUrn(folded, ENTERPRISE)) return {urn: ENTERPRISE, rest: text.slice(ENTERPRISE.length + 1)}
  const colon = text.lastIndexOf(':')
  return {urn: text.slice(0, colon), rest: text.slice(colon + 1)}
}

/** Some directories end the URN with a dot. */
function startsWithUrn(folded: string, urn: string): boolean {
  return folded.startsWith(urn.toLowerCase()) && /[:.]/.test(folded[urn.length] ?? '')
}

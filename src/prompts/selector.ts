/** The parts of a call's prompt id before and after the `@`. */
export interface NamedPrompt {
  readonly named: string
  readonly meant: number | 'latest' | 'default' | {readonly label: string}
}

/** `pp-x`, `pp-x@3`, `pp-x@latest`, `pp-x@default` or `pp-x@a-label`. */
export function readNamed(selector: string): NamedPrompt {
  const at = selector.lastIndexOf('@')
  if (at < 0) return {named: selector, meant: 'default'}
  const version = selector.slice(at + 1)
  return {named: selector.slice(0, at), meant: meantBy(version)}
}

export function meantBy(version: string): NamedPrompt['meant'] {
  if (version === 'latest' || version === 'default') return version
  return /^\d{1,9}$/.test(version) ? Number(version) : {label: version}
}

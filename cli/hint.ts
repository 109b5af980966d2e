/** A word as a shell takes it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The global options that say where a command works. */
export interface PlaceGiven {
  readonly dataDir?: string
  readonly url?: string
  readonly context?: string
  readonly organisation?: string
}

/** The options that say where a command works, as they were given: hints carry them. */
export function placeOptions({dataDir, url, context, organisation}: PlaceGiven): string {
  const given = [
    ['--data-dir', dataDir],
    ['--url', url],
    ['--context', context],
    ['--organisation', organisation],
  ] as const
  return given.flatMap(([flag, value]) => (value === undefined ? [] : [` ${flag} ${quoted(value)}`])).join('')
}

/** Values of these are never shown; of `--set`, which may hold secrets, the names are shown. */
const SECRET = /^--(?:api-)?key$/
const SECRET_PARTS = /^(--(?:api-)?key=|--set=[^=]*=).*/s

/** A command line as it was typed, with more at its end; secrets are not repeated. */
export function typedAgain(argv: readonly string[], more: string): string {
  const words = argv.map((word, at) => {
    if (SECRET.test(argv[at - 1] ?? '')) return '…'
    const shown = isSet(argv, at) ? word.replace(/^([^=]*=)?.*/s, '$1…') : word.replace(SECRET_PARTS, '$1…')
    return shown === word ? quoted(word) : shown.replace(/^(.*)…$/s, (_, start) => `${start && quoted(start)}…`)
  })
  return `gateway ${words.join(' ')}${more}`
}

/** True for each value of `--set`, which takes all words up to the next option. */
function isSet(argv: readonly string[], at: number): boolean {
  if (argv[at - 1] === '--set') return true
  const option = argv.slice(0, at).findLast(word => word.startsWith('-'))
  return !argv[at]!.startsWith('-') && /^--set(?:=|$)/.test(option ?? '')
}

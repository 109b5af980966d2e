import {fileEndings, flagOf, keyOf, NAMES, row} from './table.ts'

/** A flag to declare on the command line. */
export interface FlagOption {
  /** Without hyphens in front, as `readSettings` takes it. */
  readonly flag: string
  readonly group: string
  /** A sentence with the default at its end. */
  readonly help: string
}

/** Every flag that gives a setting, in the order of the table; each takes one text. */
export function flagOptions(): FlagOption[] {
  return NAMES.flatMap(name => {
    const {group, meaning, fallback} = row(name)
    const flag = flagOf(name)
    const own = flag ? [{flag, group, help: `${meaning}${fallback ? ` Default: ${fallback}.` : ''}`}] : []
    const files = fileEndings(name).map(ending => ({
      flag: (keyOf(name) + ending).toLowerCase().replaceAll('_', '-'),
      group,
      help: `File that holds ${name}.`,
    }))
    return [...own, ...files]
  })
}

import {NOT_AVAILABLE} from './not-available.ts'
import {fileEndings, flagOf, GROUPS, keyOf, NAMES, type Name, row} from './table.ts'

/** The page docs/settings.md: every setting by group, then the documented variables of later versions. */
export function settingsPage(): string {
  const groups = GROUPS.map(group => {
    const names = NAMES.filter(name => row(name).group === group)
    return `## ${group}\n\n${table(['Variable', 'Flag', 'Key in the file', 'Default', 'Takes', 'Meaning'], names.map(line))}`
  })
  const later = NOT_AVAILABLE.map(({area, instead = '', variables}) => [
    area,
    instead,
    Object.entries(variables).map(variable).join(', '),
  ])
  return `${[HEAD, ...groups, `${TAIL}\n\n${table(['Feature', 'Instead', 'Variables, and their allowed values'], later)}`].join('\n\n')}\n`
}

const HEAD = `# Settings

<!-- Written from src/settings/table.ts; \`vitest run test/settings -u\` updates it. -->

The gateway reads a setting from the first of these that has it: the command line, the environment, the settings file, the
default. \`gateway config show --origin\` prints each value and its source. \`gateway config show --running\` prints what a
serving gateway holds, what the file says now where that differs, and why the last reload was refused. An empty value
counts as not given.

- **The start is refused**, with a list of all problems, for
  - an unknown flag or key of the file, or an unknown environment name that begins with \`GATEWAY_\`;
  - a wrong value, two sources of one setting, or settings that contradict each other.
- **Secrets** are never shown and never accepted on the command line. \`NAME_FILE\` names a file that contains the secret,
  and so does the key \`name_file\` in the settings file. For certificates and private keys \`NAME_PATH\` is the same. A value
  is never interpreted as a path because it looks like one.
- **The settings file** is YAML, one \`key: value\` per line; a comma separated list may be a YAML list. It is the file named
  by \`--settings\` or \`GATEWAY_SETTINGS_FILE\`, else \`settings.yaml\` in the data directory.
- **Reloaded** on \`SIGHUP\`, while the gateway serves: ${NAMES.filter(name => row(name).reloads)
  .map(code)
  .join(', ')}. A new value of any other setting needs a restart.
- **Lists** are separated by commas. **Paths** are relative to the working directory.
- \`NODE_EXTRA_CA_CERTS\` is read by Node.js itself: a PEM file of further authorities for connections to providers.`

const TAIL = `## Not in this version

Other gateways document these variables; this version does not have their features. The gateway refuses to start if one
of them is set, and names it in the error. It accepts the values in parentheses, because they ask for nothing.`

function line(name: Name): string[] {
  const {kind, fallback, meaning, in_file, also = []} = row(name)
  const flag = flagOf(name)
  const key = in_file === false ? '' : code(keyOf(name))
  const spellings = [name, ...also, ...fileEndings(name).map(ending => name + ending)]
  const flags = [
    ...(flag ? [flag] : []),
    ...fileEndings(name).map(ending => (keyOf(name) + ending).toLowerCase().replaceAll('_', '-')),
  ]
  return [
    spellings.map(code).join(', '),
    flags.map(each => code(`--${each}`)).join(', '),
    key,
    fallback ? code(fallback) : '',
    kind.takes,
    meaning,
  ]
}

function variable([name, harmless]: [string, readonly string[]]): string {
  return harmless.length > 0 ? `${code(name)} (${harmless.map(code).join(', ')})` : code(name)
}

function table(heads: readonly string[], lines: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...lines]
    .map(cells => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')
}

function code(text: string): string {
  return `\`${text}\``
}

import {LATER} from './later.ts'
import {fileEndings, flagOf, GROUPS, keyOf, NAMES, type Name, row} from './table.ts'

/** The page docs/settings.md: every setting by group, then the documented variables of later versions. */
export function settingsPage(): string {
  const groups = GROUPS.map(group => {
    const names = NAMES.filter(name => row(name).group === group)
    return `## ${group}\n\n${table(['Variable', 'Flag', 'Key in the file', 'Default', 'Takes', 'Meaning'], names.map(line))}`
  })
  const later = LATER.map(({area, instead = '', variables}) => [area, instead, Object.entries(variables).map(variable).join(', ')])
  return `${[HEAD, ...groups, `${TAIL}\n\n${table(['What they ask for', 'Instead', 'Variables, and the values that may stand'], later)}`].join('\n\n')}\n`
}

const HEAD = `# Settings

<!-- Written from src/settings/table.ts; \`vitest run test/settings -u\` writes it anew. -->

A setting is taken from the command line, else from the environment, else from the settings file, else from its default.
\`gateway config show --origin\` prints each with its value and where it comes from. An empty value counts as not given.

- **Refused at start**, all problems at once: a flag or a key of the file that is no setting, an environment name that begins with
  \`GATEWAY_\` and is none, a wrong value, two sources of one setting, settings that contradict each other.
- **Secrets** are never shown, and never taken on the command line. \`NAME_FILE\` names a file that holds the secret (for certificates
  and private keys \`NAME_PATH\` says the same), and so does the key \`name_file\` in the settings file; a value is never taken for a
  path by its looks.
- **The settings file** is YAML, one \`key: value\` a line; a comma separated list may be a YAML list. It is the one named by
  \`--settings\` or \`GATEWAY_SETTINGS_FILE\`, else \`settings.yaml\` in the data directory.
- **Read again** on \`SIGHUP\`, while the gateway serves: ${NAMES.filter(name => row(name).reloads)
  .map(code)
  .join(', ')}. All others hold until a restart.
- **Lists** are separated by commas. **Paths** are relative to the working directory.
- \`NODE_EXTRA_CA_CERTS\` is read by Node.js itself: a PEM file of further authorities for connections to providers.`

const TAIL = `## Not in this version

These variables are documented for services of this kind, and this version does not have what they ask for. Setting one to
anything but a value in brackets refuses to start, naming it.`

function line(name: Name): string[] {
  const {kind, fallback, meaning, in_file, also = []} = row(name)
  const flag = flagOf(name)
  const key = in_file === false ? '' : code(keyOf(name))
  const spellings = [name, ...also, ...fileEndings(name).map(ending => name + ending)]
  const flags = [...(flag ? [flag] : []), ...fileEndings(name).map(ending => (keyOf(name) + ending).toLowerCase().replaceAll('_', '-'))]
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

import type {Kind} from './kind.ts'

const HOMES: Readonly<Record<Kind['lives_in'], string>> = {
  workspace: 'a workspace',
  organisation: 'the organisation',
  either: 'a workspace, or without `workspace` the organisation',
}

/** The kinds as the page of files in git shows them. */
export function kindsTable(kinds: readonly Kind[]): string {
  const rows = kinds.map(({name, lives_in, fields, remark = ''}) => {
    const said = Object.keys(fields).map(field => `\`${field}\``)
    return `| \`${name}\` | ${HOMES[lives_in]} | ${said.join(', ')} | ${remark} |`
  })
  return ['| Kind | Of | `spec` | Besides |', '| --- | --- | --- | --- |', ...rows].join('\n').replaceAll('|  |', '| |')
}

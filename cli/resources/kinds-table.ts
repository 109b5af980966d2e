import type {ResourceKind} from './kind.ts'

const HOMES: Readonly<Record<ResourceKind['lives_in'], string>> = {
  workspace: 'a workspace',
  organisation: 'the organisation',
  either: 'a workspace, or without `workspace` the organisation',
}

/** The kinds as the page of files in git shows them. */
export function kindsTable(kinds: readonly ResourceKind[]): string {
  const rows = kinds.map(({name, lives_in, fields, remark = ''}) => {
    const names = Object.keys(fields).map(field => `\`${field}\``)
    return `| \`${name}\` | ${HOMES[lives_in]} | ${names.join(', ')} | ${remark} |`
  })
  return ['| Kind | Of | `spec` | Besides |', '| --- | --- | --- | --- |', ...rows].join('\n').replaceAll('|  |', '| |')
}

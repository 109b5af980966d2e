import type {Command} from 'commander'
import {group, leaf} from '../options.ts'
import {openSession} from '../session.ts'
import type {TableColumn} from '../table.ts'

interface ScopeRow {
  readonly scope: string
  readonly keys: readonly string[]
  readonly newer: boolean
  /** Role → whether it has the scope, or the security setting that grants it. */
  readonly roles: Readonly<Record<string, boolean | string>>
}

const cell = (role: string) => (row: ScopeRow) => {
  const scopes = row.roles[role]
  return scopes === true ? 'yes' : scopes === false ? '-' : scopes
}
/** Without the role that every setting of its column begins with. */
const shortCell = (role: string, start: string) => (row: ScopeRow) => cell(role)(row)?.replace(start, '')

const COLUMNS: readonly TableColumn<ScopeRow>[] = [
  {title: 'scope', value: row => row.scope, whole: true},
  {title: 'keys', value: row => row.keys.join(' '), optional: 3},
  {title: 'owner', value: cell('organisation owner'), optional: 1},
  {title: 'admin', value: cell('organisation admin')},
  {title: 'workspace admin', value: cell('workspace admin')},
  {title: 'manager', value: cell('workspace manager'), short: shortCell('workspace manager', 'managers')},
  {title: 'member', value: cell('workspace member'), short: shortCell('workspace member', 'members')},
  {title: 'newer', value: row => (row.newer ? 'newer' : ''), optional: 2},
]

const SHORT: Readonly<Record<string, string>> = {
  'organisation-service': 'admin',
  'workspace-service': 'service',
  'workspace-user': 'user',
}

/** `gateway scopes`: the matrix of permissions. */
export function scopes(): Command {
  return group('scopes', 'Permissions', [
    leaf('list', 'List every permission: the kinds of keys and the roles that can hold it', [
      'gateway scopes list',
      'gateway scopes list --json',
    ]).action(async (_: object, self: Command) => {
      const {print} = await openSession(self)
      const {holdersOf, NEWER_SCOPES, SCOPES} = await import('../../src/identity/scopes.ts')
      const {ROLES, settingOf} = await import('../../src/identity/roles.ts')
      const rows = [...SCOPES].map(scope => ({
        scope,
        keys: holdersOf(scope).map(kind => SHORT[kind] ?? kind),
        newer: NEWER_SCOPES.has(scope),
        roles: Object.fromEntries(ROLES.map(role => [role, settingOf(role, scope)])),
      }))
      print.list({object: 'list', total: rows.length, data: rows}, rows, COLUMNS, rows.length)
    }),
  ])
}

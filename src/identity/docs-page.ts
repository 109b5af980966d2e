import {SECURITY, SECURITY_CATEGORIES} from '../schema/security.ts'
import {ROLES, type Role, settingOf} from './roles.ts'
import {holdersOf, NEWER_SCOPES, SCOPES} from './scopes.ts'

const KINDS: Readonly<Record<string, string>> = {
  'organisation-service': 'admin',
  'workspace-service': 'service',
  'workspace-user': 'user',
}
const COLUMNS = ROLES.filter(role => role !== 'organisation member' && role !== 'organisation owner')
const TITLES: Readonly<Partial<Record<Role, string>>> = {
  'organisation admin': 'Owner, admin',
  'workspace admin': 'Workspace admin',
  'workspace manager': 'Manager',
  'workspace member': 'Member',
}

/**
 * The tables of docs/access.md: every permission with the keys and roles that can hold it, and every security setting.
 */
export function accessTables(): {readonly permissions: string; readonly settings: string} {
  const head = ['Permission', 'Keys', ...COLUMNS.map(role => TITLES[role]!)]
  const settings = SECURITY_CATEGORIES.map(category => [
    `\`${category}\``,
    Object.entries(SECURITY[category])
      .map(([name, on]) => `\`${name}\` ${on ? 'on' : 'off'}`)
      .join(', '),
  ])
  return {
    permissions: table([head, ...permissionRows()]),
    settings: table([['Category', 'Settings, and what they are by default'], ...settings]),
  }
}

/** Permissions of one resource that are alike share one row. */
function permissionRows(): string[][] {
  const rows = new Map<string, string[]>()
  for (const scope of SCOPES) {
    const [resource, action] = scope.split('.') as [string, string]
    const keys = holdersOf(scope).map(kind => KINDS[kind]!)
    const cells = [keys.join(', '), ...COLUMNS.map(role => cell(settingOf(role, scope)))]
    const like = JSON.stringify([resource, cells])
    const label = `${action}${NEWER_SCOPES.has(scope) ? '⁺' : ''}`
    rows.set(like, [...(rows.get(like) ?? []), label])
  }
  return [...rows].map(([like, actions]) => {
    const [resource, cells] = JSON.parse(like) as [string, string[]]
    return [`\`${resource}\`: ${actions.join(' ')}`, ...cells]
  })
}

function cell(value: boolean | string): string {
  return typeof value === 'string' ? `\`${value}\`` : value ? 'yes' : '–'
}

function table([head, ...rows]: string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head!), line(head!.map(() => '---')), ...rows.map(line)].join('\n')
}

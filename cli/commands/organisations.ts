import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {readWhole} from '../option-parsers.ts'
import {group, leaf} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {minute} from './rows.ts'

interface OrganisationRow {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly created_at: string
}

const COLUMNS: readonly TableColumn<OrganisationRow>[] = [
  {title: 'slug', value: row => row.slug, whole: true},
  {title: 'name', value: row => row.name},
  {title: 'id', value: row => row.id, whole: true},
  {title: 'created', value: row => minute(row.created_at), optional: 1},
]

export const SECURITY_WORDS = 'category.setting=true, false or default, for example logs.membersViewLogs=false'

/** `gateway organisations`: tenants, and the settings of one. */
export function organisations(): Command {
  return group('organisations', 'Organisations: tenants that know nothing of each other, and their settings', [
    create(),
    list(),
    show(),
    update(),
  ])
}

function create(): Command {
  return leaf('create', 'Make an organisation; its keys are shown this once', [
    'gateway organisations create "Blue Team"',
    'gateway organisations create "Blue Team" --slug blue --json',
  ])
    .argument('<name>', 'what to call it')
    .option('--slug <slug>', 'how commands name it (default: made of the name)')
    .action((name: string, {slug}: {slug?: string}, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const body = {name, ...(slug !== undefined && {slug})}
        const reply = await call('organisations.create', {body})
        const fields = [
          `Created the organisation ${name}: ${reply.slug}`,
          `Admin key: ${reply.admin_key}`,
          `Workspace key: ${reply.workspace_key}`,
        ]
        print.made(reply, reply.slug, fields.join('\n'))
        print.note('Keep the keys now: they are not shown again.')
      }),
    )
}

function list(): Command {
  return leaf('list', 'List organisations', ['gateway organisations list']).action((_: object, self: Command) =>
    withGateway(self, async ({call, print}) => {
      const reply = await call('organisations.list')
      print.list(reply, reply.data, COLUMNS, reply.total)
    }),
  )
}

function show(): Command {
  return leaf('show', 'Show the organisation and its settings', [
    'gateway organisations show',
    'gateway --organisation blue organisations show --json',
  ]).action((_: object, self: Command) =>
    withGateway(self, async ({call, print}) => {
      const reply = await call('organisation.get')
      print.view(reply, reply)
    }),
  )
}

interface UpdateOptions {
  readonly name?: string
  readonly security?: readonly string[]
  readonly override?: readonly string[]
  readonly keyDays?: string
  readonly maxKeyDays?: string
  readonly maxUserKeys?: string
}

function update(): Command {
  return leaf('update', 'Change the organisation and its settings', [
    'gateway organisations update --name "Blue Team"',
    'gateway organisations update --security logs.membersViewLogs=false --override logs',
    'gateway organisations update --key-days 90 --max-key-days 365 --max-user-keys none',
  ])
    .option('--name <name>', 'a new name')
    .option('--security <setting...>', SECURITY_WORDS)
    .option('--override <category...>', 'categories in which the settings of a workspace count, or none')
    .option('--key-days <n>', 'how long keys live that are made without an expiry, in days, or none')
    .option('--max-key-days <n>', 'how long keys may live, in days, or none')
    .option('--max-user-keys <n>', 'most user keys in one workspace, or none')
    .action((options: UpdateOptions, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const settings = settingsOf(options)
        const body = {
          ...(options.name !== undefined && {name: options.name}),
          ...(Object.keys(settings).length && {settings}),
        }
        if (!Object.keys(body).length)
          throw usageFault('Nothing to change was said.', 'See: gateway organisations update --help')
        print.done(await call('organisation.update', {body}), 'Changed the organisation.')
      }),
    )
}

function settingsOf({security, override, keyDays, maxKeyDays, maxUserKeys}: UpdateOptions) {
  const rules = {
    ...(keyDays !== undefined && {default_expiry_days: limitOf(keyDays, '--key-days', 1)}),
    ...(maxKeyDays !== undefined && {max_expiry_days: limitOf(maxKeyDays, '--max-key-days', 1)}),
    ...(maxUserKeys !== undefined && {max_user_keys_per_workspace: limitOf(maxUserKeys, '--max-user-keys', 0)}),
  }
  return {
    ...(security && {security: readSecurity(security)}),
    ...(override && {workspace_overrides: override.filter(category => category !== 'none')}),
    ...(Object.keys(rules).length && {api_keys: rules}),
  }
}

function limitOf(text: string, option: string, least: number): number | null {
  return text === 'none' ? null : readWhole(text, option, least, 1_000_000)
}

/** Security settings in words, by category. */
export function readSecurity(pairs: readonly string[]): Record<string, Record<string, boolean | null>> {
  const VALUES: Readonly<Record<string, boolean | null>> = {true: true, false: false, default: null}
  const settings: Record<string, Record<string, boolean | null>> = {}
  for (const word of pairs) {
    const [, category, name, value] = /^(\w+)\.(\w+)=(true|false|default)$/.exec(word) ?? []
    if (!category || !name || !value) throw usageFault(`--security ${word} is no setting: expected ${SECURITY_WORDS}.`)
    settings[category] = {...settings[category], [name]: VALUES[value]!}
  }
  return settings
}

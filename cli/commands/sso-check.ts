import type {Command} from 'commander'
import type {CheckedPage, CheckedPerson} from '../../src/schema/sign-in-checks.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {type ConfirmOption, confirmed, leaf, withConfirm} from '../options.ts'
import {progressOn} from '../progress.ts'
import type {TableColumn} from '../table.ts'

const COLUMNS: readonly TableColumn<CheckedPerson>[] = [
  {title: 'user', value: row => row.email, whole: true, essential: true},
  {title: 'role', value: row => row.role},
  {title: 'in the directory', value: row => row.state.replace('_', ' ')},
  {title: 'here', value: row => (row.archived ? 'archived' : (row.kept ?? 'active'))},
  {title: 'entry', value: row => row.detail ?? '', optional: 1},
]
/** As many as one request takes. */
const AT_ONCE = 50
const SHOWN_BEFORE = 10

interface CheckOptions extends ConfirmOption {
  readonly connection?: string
  readonly archive?: true
  readonly force?: true
}

/** `gateway sso check`: who of the people of a directory is still in it. */
export function check(): Command {
  const command = leaf('check', 'Look up in the directory (LDAP) the people that a connection let in, and archive', [
    'gateway sso check --connection house',
    'gateway sso check --connection house --archive --yes',
  ])
    .option('--connection <connection>', 'its name or id; needed where there are several of type ldap')
    .option('--archive', 'take those out of the organisation who are gone or disabled there')
    .option('--force', 'also where the directory has none of the people')
  return withConfirm(command).action((options: CheckOptions, self: Command) =>
    withGateway(self, async gateway => {
      const connection = options.connection ?? (await onlyDirectory(gateway))
      const people = await everyone(gateway, connection)
      const left = [...new Set(people.filter(hasLeft).map(({user_id}) => user_id))]
      const shown = options.archive && left.length > 0 ? await archived(gateway, connection, people, options) : people
      gateway.print.list({connection, data: shown, total: shown.length}, shown, COLUMNS)
      const count = shown.filter(each => each.archived).length
      if (options.archive) gateway.print.note(`Archived ${count} of ${left.length} who are gone or disabled there.`)
      else if (left.length > 0) gateway.print.note(`${left.length} left. To take them out: gateway sso check --archive`)
    }),
  )
}

async function onlyDirectory({call}: Gateway): Promise<string> {
  const {sso} = await call('organisation_auth.get')
  const [first, ...more] = sso.connections.filter(({type}) => type === 'ldap')
  if (first && more.length === 0) return first.name
  throw usageFault(
    first
      ? 'There are several connections of type ldap: name one with --connection.'
      : 'No connection is of type ldap.',
    'See: gateway sso list',
  )
}

/** All pages; the server looks a person up again before it archives one. */
async function everyone({call, world, print}: Gateway, connection: string): Promise<readonly CheckedPerson[]> {
  const progress = progressOn(world, print)
  const people: CheckedPerson[] = []
  try {
    for (let after: string | null = null; ; ) {
      const page: CheckedPage = await call('organisation_auth.check', {body: {connection, ...(after && {after})}})
      people.push(...page.data)
      progress.step(people.length, page.total, 'looked up')
      if (page.next === null || page.data.length === 0) return people
      after = page.next
    }
  } finally {
    progress.end()
  }
}

async function archived(
  {call, world, print}: Gateway,
  connection: string,
  people: readonly CheckedPerson[],
  {force, ...options}: CheckOptions,
): Promise<readonly CheckedPerson[]> {
  const left = new Map(people.filter(hasLeft).map(({user_id, email}) => [user_id, email]))
  const some = [...left.values()].slice(0, SHOWN_BEFORE).join(', ')
  await confirmed(world, `Archive ${left.size} people (${some}${left.size > SHOWN_BEFORE ? ', …' : ''})`, options)
  const progress = progressOn(world, print)
  const after = new Map(people.map(each => [`${each.user_id} ${each.subject}`, each]))
  const ids = [...left.keys()]
  try {
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const body = {connection, archive: ids.slice(at, at + AT_ONCE), ...(force && {force})}
      const {data} = await call('organisation_auth.check', {body})
      for (const each of data) after.set(`${each.user_id} ${each.subject}`, each)
      progress.step(Math.min(at + AT_ONCE, ids.length), ids.length, 'archived')
    }
  } finally {
    progress.end()
  }
  return [...after.values()]
}

function hasLeft({state}: CheckedPerson): boolean {
  return state === 'gone' || state === 'disabled'
}

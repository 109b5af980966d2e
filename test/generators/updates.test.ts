import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {viewsOf} from '../../src/admin/changes.ts'
import {schemaOf} from '../../src/admin/openapi/schemas.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {seeded} from '../../src/base/seeded-random.ts'
import {type Furnished, furnished, ownerOf} from '../admin/contract/rows.ts'
import {ASKED} from '../admin/matrix-rows.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import type {Person} from '../support/people.ts'
import {forRing, generated, RING, seed} from '../support/ring.ts'
import {KINDS} from '../support/stores.ts'
import {bodyOf, differing, type Field, fieldsOf, leavesOf} from './updates/fields.ts'
import {BESIDE, KNOWN, LOOK, REFUSED, WITH, WITHOUT_VIEW} from './updates/table.ts'

/** Each update operation with the one that shows what it changed. */
const VIEWS = [...viewsOf(OPERATIONS)].filter(([operation]) => operation.body && !WITHOUT_VIEW.has(operation.id))

test('every update there is is walked, or left out by name', () => {
  const updates = OPERATIONS.filter(each => each.method === 'PUT' && each.body && each.audit)
  const walked = new Set(VIEWS.map(([{id}]) => id))
  expect(updates.flatMap(({id}) => (walked.has(id) || WITHOUT_VIEW.has(id) ? [] : [id]))).toEqual([])
})

/**
 * One field is changed, then another, and so on, in an order drawn by chance: after each step every other field is as
 * it was. As what one step left is there at the next, pairs of fields meet in all orders the longer it goes on.
 */
describe.each(KINDS)('an update changes what it names and nothing else, on %s', kind => {
  let admin: Admin
  let owner: Person
  let place: Furnished
  let cases = 0
  beforeAll(async () => {
    admin = await startAdmin({kind})
    owner = await ownerOf(admin)
    place = await furnished(admin, owner)
  }, 60_000)
  afterAll(async () => {
    generated(`updates of operations (${kind})`, cases)
    await admin.close()
  })

  test.each(VIEWS.map(([operation, view]) => [operation.id, operation, view] as const))(
    '%s',
    async (id, operation, view) => {
      const {params = {}, query = {}} = ASKED[id]!(place) as {
        params?: Record<string, string>
        query?: Record<string, string>
      }
      const fields = fieldsOf(
        schemaOf(operation.body!, 'input'),
        way => KNOWN[`${id} ${way}`]?.(place) ?? KNOWN[way]?.(place),
      )
      const path = `/v1${operation.path.replace(/:(\w+)/g, (_, name: string) => params[name]!)}?${new URLSearchParams(query)}`
      const look = async () => {
        const {status, body, text} = await admin.send(owner.token, view.method, `${path}&${LOOK[id] ?? ''}`)
        expect(status, text).toBe(200)
        return leavesOf({...(body.data ?? body), ...(await hidden(id))})
      }
      const [taken, refused] = [new Set<string>(), new Map<string, string>()]
      let before = await look()
      await admin.send(owner.token, 'PUT', path, {...WITH[id], ...BEGIN[id]})
      before = await look()
      for (const step of stepsOf(fields, `${id} ${seed()}`, ROUNDS).slice(0, MAX_STEPS)) {
        const body = Object.assign({...WITH[id]}, ...step.map(([field, value]) => bodyOf(field, value)))
        const said = await admin.send(owner.token, 'PUT', path, body)
        const after = await look()
        cases++
        const ways = step.map(([{way}]) => way.join('.'))
        const allowed = step.flatMap(([{way}, value]) => waysOf(id, way.join('.'), value))
        const may = (changed: string) =>
          said.status === 200 && allowed.some(each => changed === each || changed.startsWith(`${each}.`))
        expect({body, status: said.status, changed: differing(before, after).filter(way => !may(way))}).toEqual({
          body,
          status: expect.toBeOneOf(
            ways.some(way => OPERATOR_ALONE.has(`${id} ${way}`)) ? ANSWERS_OF_OPERATOR : ANSWERS,
          ),
          changed: [],
        })
        for (const way of ways) said.status === 200 ? taken.add(way) : refused.set(way, said.text)
        before = after
        if (
          step.some(([{way}, value]) => way[0] === 'usage_limits' && (value === null || way[1] === 'type')) &&
          BEGIN[id]
        ) {
          await admin.send(owner.token, 'PUT', path, {...WITH[id], ...BEGIN[id]})
          before = await look()
        }
      }
      if (END[id]) await admin.send(owner.token, 'PUT', path, {...WITH[id], ...END[id]})
      // only there every value of a field has its turn
      if (RING === 'full')
        expect([...refused].filter(([way]) => !taken.has(way) && !REFUSED.has(`${id} ${way}`))).toEqual([])
    },
    300_000,
  )

  /** What no view says: credentials as they are kept. */
  async function hidden(id: string): Promise<object> {
    if (id !== 'integrations.update' && id !== 'virtual_keys.update') return {}
    const rows = admin.store.db.selectFrom('integrations').select(['slug', 'key_sealed', 'configurations_sealed'])
    const {db} = admin.store
    if (id === 'integrations.update') {
      const row = await rows.where('slug', '=', place.integration).executeTakeFirstOrThrow()
      return {hidden_key: String(row.key_sealed), hidden_configurations: String(row.configurations_sealed)}
    }
    const {integration_id} = await db
      .selectFrom('providers')
      .select('integration_id')
      .where('slug', '=', place.virtual_key)
      .executeTakeFirstOrThrow()
    const row = await rows.where('id', '=', integration_id).executeTakeFirstOrThrow()
    return {hidden_key: String(row.key_sealed), hidden_configurations: String(row.configurations_sealed)}
  }
})

type Step = readonly (readonly [Field, unknown])[]

/**
 * Every value of every field once a round, in an order of chance; from the second round on, now and then two fields at
 * once.
 */
function stepsOf(fields: readonly Field[], of: string, rounds: number): Step[] {
  const random = seeded(of)
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]!
  return Array.from({length: rounds}, (_, round) => {
    const steps = fields.flatMap(field =>
      field.values.map((value): Step => {
        const other = pick(fields)
        const pairs = round > 0 && random() < 0.3 && other.way[0] !== field.way[0]
        return [[field, value], ...(pairs ? [[other, pick(other.values)] as const] : [])]
      }),
    )
    return steps
      .map(step => [random(), step] as const)
      .sort(([one], [other]) => one - other)
      .map(([, step]) => step)
  }).flat()
}

/**
 * What of the view a field may change that was given `value`: itself, what is in it, and what follows from it
 * (`BESIDE`).
 */
function waysOf(id: string, way: string, value: unknown): string[] {
  if (way === 'usage_limits.credit_limit' && value === null) return ['usage_limits', ...ALWAYS]
  const follows = [...(BESIDE[way] ?? []), ...(BESIDE[`${id} ${way}`] ?? []), ...(BESIDE[`${id} *`] ?? []), ...ALWAYS]
  if (/^(usage|rate)_limits$/.test(way) && typeof value === 'object' && value !== null && 'type' in value) {
    const {type, unit, ...said} = value as {type: string; unit?: string}
    const limit = [type, unit].filter(Boolean).join(' ')
    // a rate that was not there begins with all it says
    if (way === 'rate_limits')
      return [
        ...Object.keys(said).map(name => `${way}.${limit}.${name}`),
        `${way}.${limit}.type`,
        `${way}.${limit}.unit`,
        ...follows,
      ]
    return [
      ...Object.keys(said).flatMap(name =>
        [name, ...PERIODS.filter(() => name.startsWith('periodic'))].map(each => `${way}.${limit}.${each}`),
      ),
      ...follows,
    ]
  }
  // what counts in the workspace follows its own setting where the organisation lets it
  if (id === 'workspace_settings.update') return [way, way.replace('security', 'effective'), ...follows]
  return [way, ...follows]
}

const PERIODS = ['periodic_reset', 'periodic_reset_days', 'next_usage_reset_at']

/** How often every value of every field has its turn, and how many turns there are for one operation at most. */
const ROUNDS = forRing({own: 1, ci: 2, full: 20})
const MAX_STEPS = forRing({own: 20, ci: 90, full: 1000})
/** So that a change finds limits to leave alone. */
const LIMITED = {
  usage_limits: {
    type: 'cost',
    credit_limit: 110,
    alert_threshold: 70,
    periodic_reset: 'monthly',
    enforcement: 'strict',
  },
  rate_limits: [{type: 'requests', unit: 'rpm', value: 60, enforcement: 'shadow'}],
}
const BEGIN: Readonly<Record<string, object>> = {
  'api_keys.update': LIMITED,
  'workspaces.update': {
    ...LIMITED,
    usage_limits: [
      LIMITED.usage_limits,
      {type: 'tokens', credit_limit: 900, alert_threshold: 90, periodic_reset: 'weekly'},
    ],
  },
  'providers.update': LIMITED,
  'virtual_keys.update': LIMITED,
}
/** What would refuse values of the operations behind it: the longest life of a key may have been left at a week. */
const END: Readonly<Record<string, object>> = {'organisation.update': {settings: {api_keys: null}}}

const ALWAYS = ['last_updated_at', 'updated_at', 'updated_by', 'last_updated_by']

const ANSWERS = [200, 400, 404, 409]
/** Fields that the operator alone may send: others are refused before anything is written. */
const OPERATOR_ALONE: ReadonlySet<string> = new Set(['organisation_auth.update sso'])
const ANSWERS_OF_OPERATOR = [...ANSWERS, 403]

import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {createSeal} from '../../src/base/seal.ts'
import type {GuardrailCheck} from '../../src/schema/guardrails.ts'
import {
  findDefaultGuardrails,
  findGuardrails,
  insertGuardrail,
  insertGuardrailVersion,
  sealChecks,
  updateGuardrail,
} from '../../src/store/guardrails.ts'
import {insertOrganisation} from '../../src/store/organisations.ts'
import {insertWorkspace} from '../../src/store/workspaces.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'

const AT = '2026-03-04T05:06:07.000Z'
const seal = createSeal(Buffer.alloc(32, 7))
const times = {created_at: AT, last_updated_at: AT}
const words = (word: string): GuardrailCheck[] => [{id: 'default.contains', parameters: {words: [word]}}]

describe.each(KINDS)('guardrails of calls on %s', kind => {
  let opened: TestStore
  beforeAll(async () => {
    opened = await testStore(kind)
    const {db} = opened.store
    for (const id of ['red', 'blue']) await insertOrganisation(db, {id, slug: id, name: id, ...times})
    const none = {
      description: null,
      icon: null,
      is_default: 0,
      defaults: null,
      usage_limits: null,
      rate_limits: null,
    } as const
    for (const [id, organisation_id] of [
      ['red-1', 'red'],
      ['red-2', 'red'],
      ['blue-1', 'blue'],
    ] as const)
      await insertWorkspace(db, {...none, id, slug: id, organisation_id, name: id, status: 'active', ...times})
    await save('shared', 'red', null)
    await save('own', 'red', 'red-1')
    await save('neighbour', 'red', 'red-2')
    await save('foreign', 'blue', null)
    await save('gone', 'red', 'red-1')
    await updateGuardrail(db, 'id-gone', {status: 'archived'})
  })
  afterAll(() => opened.close())

  const save = async (slug: string, organisation_id: string, workspace_id: string | null) => {
    const version = {id: `${slug}-1`, organisation_id}
    const kept = sealChecks(seal, version, words('secret word'), words('•••••'))
    const row = {
      id: `id-${slug}`,
      slug,
      organisation_id,
      workspace_id,
      name: slug,
      target: 'llm',
      status: 'active',
      version_id: version.id,
    } as const
    await insertGuardrail(
      opened.store.db,
      {...row, owner_id: null, updated_by: null, ...times},
      {
        id: version.id,
        guardrail_id: row.id,
        version: 1,
        actions: '{"deny":true}',
        updated_by: null,
        created_at: AT,
        ...kept,
      },
    )
  }
  const place = {organisation_id: 'red', workspace_id: 'red-1'}

  test("a workspace's and its organisation's are found by slug and by id, with their secrets; no others are", async () => {
    const refs = ['own', 'id-shared', 'shared', 'neighbour', 'id-neighbour', 'foreign', 'gone', 'none', 'own']
    const found = await findGuardrails(opened.store.db, {...place, refs}, seal)
    const of = (ref: string, slug: string) => ({
      ...{ref, id: `id-${slug}`, slug, name: slug, version_id: `${slug}-1`},
      ...{checks: words('secret word'), actions: {deny: true}},
    })
    expect(found).toEqual([of('own', 'own'), of('id-shared', 'shared'), of('shared', 'shared')])
    expect(await findGuardrails(opened.store.db, {organisation_id: 'blue', workspace_id: 'red-1', refs}, seal)).toEqual(
      [of('foreign', 'foreign')],
    )
    expect(await findGuardrails(opened.store.db, {...place, refs: []}, seal)).toEqual([])
  })

  test('the latest version runs', async () => {
    const {db} = opened.store
    await save('changed', 'red', 'red-1')
    const kept = sealChecks(seal, {id: 'changed-2', organisation_id: 'red'}, words('new'), words('new'))
    expect(kept.checks_sealed).toBeNull()
    await insertGuardrailVersion(db, {
      ...{id: 'changed-2', guardrail_id: 'id-changed', version: 2, actions: '{}', updated_by: null, created_at: AT},
      ...kept,
    })
    await updateGuardrail(db, 'id-changed', {version_id: 'changed-2'})
    expect(await findGuardrails(db, {...place, refs: ['changed']}, seal)).toEqual([
      {
        ...{ref: 'changed', id: 'id-changed', slug: 'changed', name: 'changed', version_id: 'changed-2'},
        ...{checks: words('new'), actions: {}},
      },
    ])
  })

  test('the defaults of the organisation come first, each once', async () => {
    const {db} = opened.store
    expect(await findDefaultGuardrails(db, place)).toEqual({input: [], output: []})
    const defaults = (input: string[], output: string[]) =>
      JSON.stringify({input_guardrails: input, output_guardrails: output})
    await db
      .updateTable('organisations')
      .set({defaults: defaults(['shared', 'first'], [])})
      .where('id', '=', 'red')
      .execute()
    await db
      .updateTable('workspaces')
      .set({defaults: defaults(['own', 'shared'], ['own'])})
      .where('id', '=', 'red-1')
      .execute()
    expect(await findDefaultGuardrails(db, place)).toEqual({input: ['shared', 'first', 'own'], output: ['own']})
    expect(await findDefaultGuardrails(db, {...place, workspace_id: 'red-2'})).toEqual({
      input: ['shared', 'first'],
      output: [],
    })
    expect(await findDefaultGuardrails(db, {organisation_id: 'blue', workspace_id: 'red-1'})).toEqual({
      input: [],
      output: [],
    })
  })
})

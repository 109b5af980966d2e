import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {main} from '../../cli/index.ts'
import {fakeGateway, run, worldOf} from './support.ts'

let folder: string
let data: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-people-'))
  data = join(folder, 'data')
  await run(['init', '--data-dir', data])
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

/** A command on the data directory, in this process, with the clock of today. */
const here = (...argv: string[]) => run([...argv, '--data-dir', data], {now_ms: Date.now()})
const json = async (...argv: string[]) => {
  const {code, stdout, stderr} = await here(...argv, '--json')
  expect({code, stderr}, stdout).toEqual({code: 0, stderr: ''})
  return JSON.parse(stdout)
}

describe('on the data directory', () => {
  test('users are made, listed, changed and taken out', async () => {
    expect(await here('users', 'create', 'Ada@example.com', '--role', 'owner', '--first-name', 'Ada')).toEqual({
      code: 0,
      stdout: 'Created the user ada@example.com (owner).\n',
      stderr: '',
    })
    await here('users', 'create', 'bob@example.com', '--role', 'member')
    expect((await here('users', 'list')).stdout).toMatch(/^ada@example\.com +Ada +owner +0 /m)
    expect((await here('users', 'list', '--role', 'member', '--quiet')).stdout).toBe('bob@example.com\n')
    expect(await here('users', 'update', 'bob@example.com', '--role', 'admin')).toMatchObject({
      stdout: 'bob@example.com is admin now.\n',
    })
    expect(await json('users', 'show', 'bob@example.com')).toMatchObject({role: 'admin'})
    expect(await here('users', 'delete', 'ada@example.com')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('no other owner'),
    })
    expect(await here('users', 'delete', 'bob@example.com')).toMatchObject({code: 0})
    expect(await here('users', 'show', 'bob@example.com')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(
        'No user of the organisation has the address bob@example.com. gateway users list shows them',
      ),
    })
    expect(await here('users', 'create', 'ada@example.com', '--role', 'king')).toMatchObject({code: 2})
  })

  test('sessions are opened, listed and ended', async () => {
    const quiet = await here('sessions', 'create', '--user', 'ada@example.com', '--ttl', '8h', '--quiet')
    expect(quiet).toMatchObject({code: 0, stdout: expect.stringMatching(/^gs-[\w-]{43}\n$/), stderr: ''})
    const [{id, email}] = (await json('sessions', 'list', '--user', 'ada@example.com')).data
    expect(email).toBe('ada@example.com')
    expect(await here('sessions', 'revoke', id)).toMatchObject({code: 0})
    expect((await json('sessions', 'list')).total).toBe(0)
    expect(await here('sessions', 'create', '--user', 'ada@example.com', '--ttl', 'long')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--ttl long is no length of time'),
    })
  })

  test('invites and members', async () => {
    await here('workspaces', 'create', 'research')
    const link = (
      await here(
        'invites',
        'create',
        'eve@example.com',
        '-w',
        'research:manager',
        '--key-scope',
        'completions.write',
        '--quiet',
      )
    ).stdout
    expect(link).toMatch(/#token=gi-[\w-]{43}\n$/)
    const [{id}] = (await json('invites', 'list', '--status', 'pending')).data
    expect((await here('invites', 'show', id)).stdout).toMatch(/^email +eve@example\.com$/m)
    const fresh = (await here('invites', 'resend', id, '--quiet')).stdout.trim()
    expect(await here('invites', 'accept', link.trim())).toMatchObject({code: 4})
    expect(await here('invites', 'accept', fresh, '--first-name', 'Eve')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Session until .*: gs-.*\nAPI key of the workspace .*: gk-/),
    })
    expect((await here('members', 'list', '-w', 'research')).stdout).toMatch(/^eve@example\.com +manager +member /m)
    expect(await here('members', 'update', 'eve@example.com', '-w', 'research', '--role', 'admin')).toMatchObject({
      code: 0,
    })
    expect(await json('members', 'show', 'eve@example.com', '-w', 'research')).toMatchObject({role: 'admin'})
    expect(await here('members', 'add', 'ada@example.com', '-w', 'research', '--role', 'manager')).toMatchObject({
      code: 0,
    })
    expect(await here('members', 'remove', 'eve@example.com', '-w', 'research')).toMatchObject({code: 0})
    expect(await here('members', 'show', 'eve@example.com', '-w', 'research')).toMatchObject({code: 3})
    const [gone] = [await here('invites', 'create', 'zoe@example.com')]
    expect(gone).toMatchObject({code: 0})
    const [{id: second}] = (await json('invites', 'list', '--status', 'pending')).data
    expect(await here('invites', 'delete', second)).toMatchObject({code: 0})
    expect(await here('invites', 'create', 'x@example.com', '-w', 'research')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('says no role'),
    })
  })

  test('keys are made for a user by his address, and rotated', async () => {
    const {id, key} = await json('keys', 'create', 'blue', '-w', 'research', '--user', 'ada@example.com')
    expect(await json('keys', 'show', 'blue')).toMatchObject({id, type: 'workspace-user'})
    const rotated = await here('keys', 'rotate', 'blue', '--transition', '24h', '--quiet')
    expect(rotated).toMatchObject({code: 0, stdout: expect.stringMatching(/^gk-/)})
    expect(rotated.stdout).not.toContain(key)
    expect(await here('keys', 'rotate', 'blue')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('rotated already'),
    })
    expect(await here('keys', 'rotate', 'blue', '--transition', '1m')).toMatchObject({code: 2})
  })

  test('settings of the organisation and of a workspace', async () => {
    const changed = [
      '--security',
      'logs.membersViewLogs=false',
      'prompts.membersWritePrompts=true',
      '--override',
      'logs',
      '--key-days',
      '90',
    ]
    expect(await here('organisations', 'update', ...changed)).toMatchObject({code: 0})
    expect((await json('organisations', 'show')).settings).toMatchObject({
      security: {logs: {membersViewLogs: false}, prompts: {membersWritePrompts: true}},
      workspace_overrides: ['logs'],
      api_keys: {default_expiry_days: 90},
    })
    expect(
      (await json('workspaces', 'settings', 'research', '--security', 'logs.membersViewLogs=true')).effective.logs,
    ).toMatchObject({
      membersViewLogs: true,
    })
    expect(await here('organisations', 'update', '--security', 'logs.membersViewLogs=perhaps')).toMatchObject({code: 2})
    expect(await here('organisations', 'update')).toMatchObject({code: 2})
    await here(
      'organisations',
      'update',
      '--security',
      'logs.membersViewLogs=default',
      '--override',
      'none',
      '--key-days',
      'none',
    )
    expect((await json('organisations', 'show')).settings).toMatchObject({
      workspace_overrides: [],
      api_keys: {default_expiry_days: null},
    })
  })

  test('another organisation is acted in by its slug, and knows nothing of the first', async () => {
    const made = await json('organisations', 'create', 'Blue Team', '--slug', 'blue')
    expect(made).toMatchObject({slug: 'blue', admin_key: expect.stringMatching(/^gk-/)})
    expect((await json('organisations', 'list')).data.map(({slug}: {slug: string}) => slug)).toContain('blue')
    expect((await json('--organisation', 'blue', 'users', 'list')).total).toBe(0)
    expect((await json('--organisation', 'blue', 'workspaces', 'list')).total).toBe(1)
    expect((await json('users', 'list')).total).toBeGreaterThan(0)
    expect(await here('--organisation', 'red', 'users', 'list')).toMatchObject({code: 3})
  })

  test('permissions are listed with who can hold them', async () => {
    const {data} = await json('scopes', 'list')
    expect(data).toHaveLength(139)
    expect(data.find(({scope}: {scope: string}) => scope === 'prompts.create')).toEqual({
      scope: 'prompts.create',
      keys: ['admin', 'service', 'user'],
      newer: false,
      roles: {
        'organisation owner': true,
        'organisation admin': true,
        'organisation member': false,
        'workspace admin': true,
        'workspace manager': 'managersWritePrompts',
        'workspace member': 'membersWritePrompts',
      },
    })
  })

  test('the audit log is listed, exported and verified; a row that was altered is found', async () => {
    const {records, total} = await json('audit', 'list', '--filter', 'resource_type=session')
    expect(total).toBe(2)
    expect(records[0]).toMatchObject({user_type: 'operator', action: 'delete', client_ip: null})
    expect((await here('audit', 'list', '--limit', '1')).stdout).toMatch(/^20.* operator /m)
    const lines = (await here('audit', 'export')).stdout.trim().split('\n')
    const rows = lines.map(line => JSON.parse(line))
    expect(rows.map(({sequence}) => sequence)).toEqual(rows.map((_, index) => rows.length - index))
    expect(await here('audit', 'verify')).toEqual({
      code: 0,
      stdout: `The chain holds: ${rows.length} rows.\n`,
      stderr: '',
    })
    const db = new Sqlite(join(data, 'gateway.db'))
    db.exec("drop trigger audit_logs_no_update; update audit_logs set action = 'create' where sequence = 2")
    db.exec("update audit_logs set action = 'delete' where sequence = 2")
    db.close()
    expect(await here('audit', 'verify')).toMatchObject({code: 1, stderr: expect.stringContaining('Row 2 of')})
    expect(JSON.parse((await here('audit', 'verify', '--json')).stdout)).toMatchObject({holds: false})
    expect(await here('audit', 'list', '--since', 'yesterday')).toMatchObject({code: 2})
  })
})

describe('at a URL', () => {
  test('what the operator alone does is told from what is not there', async () => {
    const {transport} = fakeGateway({}, 'there')
    expect(await run(['sessions', 'create', '--user', 'a@example.com'], {transport})).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('on the data directory of the gateway'),
    })
    expect(await run(['--organisation', 'blue', 'users', 'list', '--url', 'http://127.0.0.1:9'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('at a URL the key says which one'),
    })
  })
})

describe('what takes away', () => {
  const deletion = ['users', 'delete', 'u-1']
  async function asked(answer: string, argv = deletion) {
    const {transport, requests} = fakeGateway({'DELETE /admin/users/u-1': {}})
    const questions: string[] = []
    const {world, said} = worldOf({transport})
    const ask = async (question: string) => {
      questions.push(question)
      return answer
    }
    const code = await main(argv, {...world, ask})
    return {code, questions, sent: requests.length, ...said()}
  }

  test.each(['y', 'Yes', ' y '])('goes on at %j', async answer => {
    expect(await asked(answer)).toMatchObject({
      code: 0,
      questions: ['Take u-1 out of the organisation? [y/N] '],
      sent: 1,
    })
  })

  test.each(['', 'n', 'no', 'yep', 'u-1'])('does nothing at %j', async answer => {
    expect(await asked(answer)).toMatchObject({code: 2, sent: 0, stderr: 'gateway: Nothing was done.\n'})
  })

  test('does not ask with --yes, nor where nobody is', async () => {
    expect(await asked('n', [...deletion, '--yes'])).toMatchObject({code: 0, questions: [], sent: 1})
    const {transport} = fakeGateway({'DELETE /admin/users/u-1': {}})
    expect(await run(deletion, {transport})).toMatchObject({code: 0})
  })
})

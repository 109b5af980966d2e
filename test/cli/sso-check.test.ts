import {expect, test} from 'vitest'
import {main} from '../../cli/index.ts'
import {fakeGateway, run, worldOf} from './support.ts'

const person = (name: string, state: string, more: object = {}) => ({
  ...{user_id: `0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d1${name.length}`, email: `${name}@example.test`, role: 'member'},
  ...{subject: name, state, detail: null, archived: false, kept: null},
  ...more,
})
const page = (data: readonly object[], next: string | null = null) => ({
  ...{connection: 'house', data, total: 3, next, object: 'organisation-auth-check'},
})
const NEXT = '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d99'
const PAGES = [page([person('ada', 'present'), person('beat', 'gone')], NEXT), page([person('celia', 'locked')])]
const PATH = 'POST /admin/organisation/auth/check'
const AUTH = {
  sso: {
    connections: [
      {name: 'house', type: 'ldap'},
      {name: 'entra', type: 'oidc'},
    ],
  },
}

/** Answers the pages, and then the archiving. */
const gateway = (auth: object = AUTH) =>
  fakeGateway({
    'GET /admin/organisation/auth': auth,
    [PATH]: [...PAGES, page([person('beat', 'gone', {archived: true})])],
  })

/** At a terminal where a person answers each question with `answer`. */
const atTerminal = async (argv: readonly string[], answer: string) => {
  const {transport, requests} = gateway()
  const {world} = worldOf({transport})
  const questions: string[] = []
  const ask = async (question: string) => {
    questions.push(question)
    return answer
  }
  return {code: await main(argv, {...world, ask}), questions, requests}
}

test('all pages are shown, of the one connection that can be asked', async () => {
  const {transport, requests} = gateway()
  const {code, stdout, stderr} = await run(['sso', 'check'], {transport})
  expect([code, stderr]).toEqual([0, expect.stringContaining('1 left. To take them out: gateway sso check --archive')])
  for (const word of ['ada@example.test', 'present', 'beat@example.test', 'gone', 'celia@example.test', 'locked'])
    expect(stdout).toContain(word)
  const bodies = requests.filter(({path}) => path.endsWith('/check')).map(({body}) => body)
  expect(bodies).toEqual([{connection: 'house'}, {connection: 'house', after: NEXT}])
})

test('--archive names those who are gone first, and sends no others', async () => {
  const argv = ['sso', 'check', '--connection', 'house', '--archive', '--force']
  const {code, questions, requests} = await atTerminal(argv, 'y')
  expect(questions).toEqual(['Archive 1 people (beat@example.test)? [y/N] '])
  expect(code).toBe(0)
  const archive = [person('beat', 'gone').user_id]
  expect(requests.at(-1)!.body).toEqual({connection: 'house', archive, force: true})
})

test('a no archives no one', async () => {
  const {code, questions, requests} = await atTerminal(['sso', 'check', '--archive'], 'n')
  expect([code, questions.length]).toEqual([2, 1])
  expect(requests.some(({body}) => (body as {archive?: unknown} | undefined)?.archive !== undefined)).toBe(false)
})

test('one of several connections has to be named', async () => {
  const two = {
    sso: {
      connections: [
        {name: 'a', type: 'ldap'},
        {name: 'b', type: 'ldap'},
      ],
    },
  }
  const {code, stderr} = await run(['sso', 'check'], {transport: gateway(two).transport})
  expect([code !== 0, stderr]).toEqual([true, expect.stringContaining('name one with --connection')])
  const none = await run(['sso', 'check'], {transport: gateway({sso: {connections: []}}).transport})
  expect(none.stderr).toContain('No connection is of type ldap')
})

test('in a pipe --archive does not ask, and shows who was archived', async () => {
  const {code, stdout, stderr} = await run(['sso', 'check', '--archive'], {transport: gateway().transport})
  expect([code, stderr]).toEqual([0, expect.stringContaining('Archived 1 of 1')])
  expect(stdout).toMatch(/beat@example\.test.*archived/)
})

import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {sign} from '../../../src/base/sigv4.ts'
import type {JsonValue} from '../../../src/guardrails/json.ts'
import {PARTNERS} from '../../../src/guardrails/partners/index.ts'
import {masked} from '../../../src/guardrails/partners/reading.ts'
import {BUILT_IN} from '../../../src/guardrails/registry.ts'
import {runHooks} from '../../../src/guardrails/run.ts'
import {answered, type CheckSetup, checkOf, explanation, hooks, NOW_MS, said, world} from '../support.ts'
import {ANSWER, PARTNER_CASES, type PartnerCase, REQUEST, SAID} from './cases.ts'
import {judge, openTwin, type Reply, type Twin} from './twin.ts'

let twin: Twin
beforeAll(async () => {
  twin = await openTwin()
})
afterAll(() => twin.close())

const request = REQUEST as unknown as JsonValue
const worldOf = ({side}: PartnerCase): CheckSetup =>
  side === 'input' ? {side, body: request} : {side, request, body: answered(ANSWER)}

async function asking(
  of: PartnerCase,
  reply: Reply | readonly Reply[],
  more: Record<string, unknown> = {},
  world: CheckSetup = {},
) {
  twin.answer(reply)
  const outcome = await judge(
    twin,
    {[of.check]: {...of.parameters, credentials: of.credentials, ...more}},
    {...worldOf(of), ...world},
  )
  const result = checkOf(outcome)
  // Whatever happens, no secret is in a result.
  const check = BUILT_IN.find(of.check)!
  for (const [name, value] of Object.entries(of.credentials))
    if (check.isSecret(`credentials.${name}`)) expect(JSON.stringify(result)).not.toContain(value)
  return {outcome, result}
}

describe.each(PARTNER_CASES.map(of => [`${of.check}, ${of.side}`, of] as const))('%s', (_, of) => {
  test('is asked as its API says', async () => {
    await asking(of, {json: of.pass})
    expect(twin.asked).toHaveLength(1)
    const [{host, method, path, headers, body}] = twin.asked as [Twin['asked'][number]]
    expect({host, method, path}).toEqual({host: of.asked.host, method: 'POST', path: of.asked.path})
    expect(headers).toMatchObject({'content-type': 'application/json', ...of.asked.headers})
    expect(body).toEqual(of.asked.body)
  })

  test('passes', async () => {
    const {outcome, result} = await asking(of, {json: of.pass})
    expect(result).toMatchObject({verdict: true, transformed: false})
    expect(result.error).toBeUndefined()
    expect(outcome.view.body).toEqual(worldOf(of).body)
  })

  if (of.fail)
    test('fails', async () => {
      const {outcome, result} = await asking(of, {json: of.fail!.reply})
      expect(result.error).toBeUndefined()
      expect(result).toMatchObject({verdict: false, transformed: false})
      expect(explanation(result)).toContain(of.fail!.says ?? 'failed it')
      expect(outcome.view.body).toEqual(worldOf(of).body)
    })

  if (of.redact)
    test('redacts', async () => {
      const {outcome, result} = await asking(of, {json: of.redact!.reply}, of.redact!.parameters)
      expect(result).toMatchObject({verdict: true, transformed: true})
      expect(outcome.view.text).toBe(of.redact!.becomes)
      expect(JSON.stringify(result)).not.toContain('ada@example.com')
    })

  const errors: readonly (readonly [string, Reply, string])[] = [
    ['an error of the service', {status: 500, text: '{"error":"k-1"}'}, 'answered 500'],
    ['a refusal', {status: 401, text: '{}'}, 'answered 401'],
    ['a page', {status: 200, text: '<html>sign in</html>'}, 'answered no JSON'],
    ['an answer without end', 'endless', 'answered more than'],
    [
      'a redirection into a private network',
      {status: 307, text: '', headers: {location: 'http://169.254.169.254/latest'}},
      'redirections are not followed',
    ],
    ['JSON of another form', {json: 'yes'}, 'in a form that is not known'],
  ]
  test.each(errors)('%s is an error, which passes', async (_, reply, sentence) => {
    const {outcome, result} = await asking(of, reply)
    expect(result.verdict).toBe(false)
    expect(result.error?.message).toContain(sentence)
    expect(outcome.is_failed).toBe(false)
    expect(twin.asked).toHaveLength(1)
  })

  test('no answer in time is an error, and one that fails when asked for', async () => {
    const {outcome, result} = await asking(of, 'silent', {failOnError: true}, {impatient: true})
    expect(result.error?.message).toContain('did not answer in time')
    expect(outcome.is_failed).toBe(true)
  })

  if (of.needs)
    test('without a credential nobody is asked', async () => {
      const {[of.needs!]: _, ...credentials} = of.credentials
      const {outcome, result} = await asking(of, {json: of.pass}, {credentials})
      expect(result.error).toMatchObject({
        name: 'ConfigurationError',
        message: expect.stringContaining(`The credential ${of.needs} is missing`),
      })
      expect(outcome.is_failed).toBe(false)
      expect(twin.asked).toEqual([])
    })
})

test('every partner’s check is in the table', () => {
  const named = new Set(PARTNER_CASES.map(({check}) => check))
  expect(PARTNERS.map(({id}) => id).filter(id => !named.has(id))).toEqual([])
  expect(
    PARTNERS.filter(check => 'redact' in (check.parameters as unknown as {shape: object}).shape).every(({id}) =>
      PARTNER_CASES.some(of => of.check === id && of.redact),
    ),
  ).toBe(true)
})

test('time is 5 s, and 10 s for the AI guard (reference: partners)', () => {
  expect(
    Object.fromEntries(
      PARTNERS.filter(({timeout_ms}) => timeout_ms !== 5000).map(({id, timeout_ms}) => [id, timeout_ms]),
    ),
  ).toEqual({
    'zscaler.guard': 10_000,
  })
})

describe('credentials', () => {
  const lakera = PARTNER_CASES.find(({check}) => check === 'lakera.guard')!

  test('a secret reference is resolved when the check runs', async () => {
    twin.answer({json: lakera.pass})
    const {view, context} = world({body: request})
    const asked: unknown[] = []
    const secret = async (reference: unknown) => {
      asked.push(reference)
      return 'from-the-vault'
    }
    const credentials = {apiKey: {secret_reference_id: 'ref-1', secret_key: 'lakera'}}
    const outcome = await runHooks(hooks('input', [{'lakera.guard': {credentials}}]), view, {
      ...context,
      http: twin.http,
      secret,
    })
    expect(checkOf(outcome).verdict).toBe(true)
    expect(asked).toEqual([{secret_reference_id: 'ref-1', secret_key: 'lakera'}])
    expect(twin.asked[0]!.headers.authorization).toBe('Bearer from-the-vault')
    expect(JSON.stringify(outcome.results)).not.toContain('from-the-vault')
  })

  test.each([
    ['none are kept', undefined],
    ['it is gone', () => Promise.reject(new Error('no such secret at vault.internal'))],
    ['it fits no header', async () => 'a\nb'],
  ])('where %s nobody is asked', async (_, secret) => {
    twin.answer({json: lakera.pass})
    const {view, context} = world({body: request})
    const credentials = {apiKey: {secret_reference_id: 'ref-1'}}
    const outcome = await runHooks(hooks('input', [{'lakera.guard': {credentials}}]), view, {
      ...context,
      http: twin.http,
      ...(secret ? {secret} : {}),
    })
    expect(checkOf(outcome).error).toEqual({
      name: 'ConfigurationError',
      message: 'The credential apiKey could not be had from its secret reference.',
    })
    expect(twin.asked).toEqual([])
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['lakera.guard', {credentials: {apikey: 'x'}}, 'apikey'],
    ['lakera.guard', {credentials: {apiKey: 'a\r\nb: c'}}, 'apiKey'],
    ['lakera.guard', {credentials: {apiKey: 'k', apiBase: 'ftp://x'}}, 'apiBase'],
    ['lakera.guard', {credentials: {apiKey: 'k', apiBase: 'https://u:p@x'}}, 'apiBase'],
    ['pangea.pii', {credentials: {apiKey: 'k', domain: 'x/../y'}}, 'domain'],
    ['azure.pii', {credentials: {apiKey: 'k', resourceName: 'a.b/c?'}}, 'resourceName'],
    ['bedrock.guard', {guardrailId: 'g', guardrailVersion: 'x'}, 'guardrailVersion'],
    ['zscaler.guard', {}, 'policyId'],
    ['lakera.guard', {unknown: 1}, 'unknown'],
  ])('%s refuses %j', async (check, parameters, named) => {
    await expect(judge(twin, {[check]: parameters}, {body: request})).rejects.toThrow(named)
  })

  test('what is a secret, and what an address, is marked', () => {
    const bedrock = BUILT_IN.find('bedrock.guard')!
    const marked = Object.keys(PARTNERS.find(({id}) => id === 'bedrock.guard')!.credentials).filter(name =>
      bedrock.isSecret(`Credentials.${name}`),
    )
    expect(marked).toEqual(['awsAccessKeyId', 'awsSecretAccessKey', 'awsSessionToken'])
    expect(BUILT_IN.find('lakera.guard')!.isAddress('credentials.apiBase')).toBe(true)
    expect(BUILT_IN.find('lakera.guard')!.isSecret('credentials.apiBase')).toBe(false)
    expect(
      PARTNERS.filter(check => !Object.keys(check.credentials).some(name => check.isSecret(`credentials.${name}`))),
    ).toEqual([])
    for (const name of ['credentials', 'credentials.__proto__', 'credentials.x', 'rule.x', '', '.'])
      expect(bedrock.isSecret(name)).toBe(false)
  })
})

test('an Entra application’s token is asked for once, and used until it is old', async () => {
  const credentials = {resourceName: 'res', tenantId: 't-1', clientId: 'c-1', clientSecret: 's-1'}
  const memory = new Map<string, unknown>()
  const pass = {json: {protectedMaterialAnalysis: {detected: false}}}
  twin.answer([{json: {token_type: 'Bearer', expires_in: 3599, access_token: 'entra-token'}}, pass, pass])
  const of: CheckSetup = {side: 'output', body: answered(ANSWER), memory}
  for (let call = 0; call < 2; call++) {
    const outcome = await judge(twin, {'azure.protectedMaterial': {credentials}}, of)
    expect(checkOf(outcome).verdict).toBe(true)
  }
  expect(twin.asked.map(({host, path}) => host + path)).toEqual([
    'login.microsoftonline.com/t-1/oauth2/v2.0/token',
    'res.cognitiveservices.azure.com/contentsafety/text:detectProtectedMaterial?api-version=2024-09-01',
    'res.cognitiveservices.azure.com/contentsafety/text:detectProtectedMaterial?api-version=2024-09-01',
  ])
  expect(twin.asked[0]).toMatchObject({
    headers: {'content-type': 'application/x-www-form-urlencoded'},
    body: 'client_id=c-1&client_secret=s-1&scope=https%3A%2F%2Fcognitiveservices.azure.com%2F.default&grant_type=client_credentials',
  })
  expect(twin.asked[1]!.headers.authorization).toBe('Bearer entra-token')
  expect([...memory.keys()].join()).not.toContain('s-1')
})

test('a call of AWS is signed over what is sent', async () => {
  const of = PARTNER_CASES.find(({check}) => check === 'bedrock.guard')!
  await asking(of, {json: of.pass}, {guardrailId: 'arn:aws:bedrock:eu-west-1:123456789012:guardrail/gr1'})
  const [{path, headers, body}] = twin.asked as [Twin['asked'][number]]
  expect(path).toBe('/guardrail/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Aguardrail%2Fgr1/version/DRAFT/apply')
  const {authorization} = sign({
    ...{
      method: 'POST',
      host: of.asked.host,
      path,
      body: JSON.stringify(body),
      service: 'bedrock',
      region: 'eu-west-1',
      now_ms: NOW_MS,
    },
    headers: {'content-type': 'application/json'},
    credentials: {access_key_id: 'AKIDEXAMPLE', secret_access_key: 'wJalrXUtnFEMI'},
  })
  expect(headers.authorization).toBe(authorization)
  expect(authorization).toContain(
    'Credential=AKIDEXAMPLE/20260131/eu-west-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date',
  )
})

describe('searches', () => {
  test.each([
    ['exa.online', {results: [{title: 'T', url: 'https://e.example', text: 'Found.'}, {url: 5}]}],
    ['tavily.online', {results: [{title: 'T', url: 'https://e.example', content: 'Found.', score: 0.9}]}],
  ])('%s puts what it found before the system message', async (check, reply) => {
    const of = PARTNER_CASES.find(each => each.check === check)!
    const {outcome, result} = await asking(of, {json: reply as JsonValue})
    expect(result).toMatchObject({verdict: true, transformed: true})
    expect(outcome.view.body).toEqual({
      ...REQUEST,
      messages: [
        {
          role: 'system',
          content:
            '\n<web_search_context>\n[1] "T"\nURL: https://e.example\nFound.\n\n</web_search_context>\nBe brief.',
        },
        REQUEST.messages[1],
      ],
    })
  })
})

describe('redactions', () => {
  test('are asked for each text, and each has its own', async () => {
    const body: JsonValue = {
      messages: [
        {
          role: 'user',
          content: [
            {type: 'text', text: 'a@x.example'},
            {type: 'text', text: 'b'},
          ],
        },
      ],
    }
    const reply = (redacted_text: string, count: number) => ({
      json: {status: 'Success', result: {redacted_text, count}},
    })
    twin.answer([reply('<1>', 1), reply('b', 0)])
    const credentials = {apiKey: 'k', domain: 'aws.us.pangea.cloud'}
    const outcome = await judge(twin, {'pangea.pii': {credentials, redact: true}}, {body})
    expect(outcome.view.body).toEqual({
      messages: [
        {
          role: 'user',
          content: [
            {type: 'text', text: '<1>'},
            {type: 'text', text: 'b'},
          ],
        },
      ],
    })
  })

  test('that cannot be put in place fail', async () => {
    const body: JsonValue = {
      messages: [
        {
          role: 'user',
          content: [
            {type: 'text', text: 'one'},
            {type: 'text', text: 'two'},
          ],
        },
      ],
    }
    const cato = PARTNER_CASES.find(({check}) => check === 'cato.analyze')!
    const {outcome, result} = await asking(cato, {json: cato.redact!.reply}, {}, {body})
    expect(result).toMatchObject({verdict: false, transformed: false})
    expect(explanation(result)).toContain('could not be put in its place')
    expect(outcome.is_failed).toBe(true)
  })

  test('of a text that somebody else’s hit does not fit are none', () => {
    expect(
      masked('abcdef', [
        {start: 1, end: 3, label: 'x'},
        {start: 2, end: 4, label: 'y'},
        {start: 5, end: 6, label: 'e mail'},
      ]),
    ).toBe('a[X]e[E_MAIL]')
    for (const [start, end] of [
      [-1, 2],
      [0, 7],
      [3, 3],
      [1.5, 2],
      ['0', 2],
      [null, 2],
    ] as const)
      expect(masked('abcdef', [{start, end, label: 'x'}])).toBeNull()
  })
})

test('a call without a text is not asked about', async () => {
  twin.answer({json: {}})
  const outcome = await judge(twin, {'lakera.guard': {credentials: {apiKey: 'k'}}}, {body: said('')})
  expect(checkOf(outcome).error?.message).toBe('There is no text to judge.')
  expect(twin.asked).toEqual([])
})

test('of many texts no more are asked about than may be', async () => {
  twin.answer({json: {}})
  const body: JsonValue = {input: Array.from({length: 51}, (_, at) => `text ${at}`)}
  const credentials = {apiKey: 'k', domain: 'aws.us.pangea.cloud'}
  const outcome = await judge(twin, {'pangea.pii': {credentials}}, {endpoint: 'embed', body})
  expect(checkOf(outcome).error?.message).toContain('more than 50 texts')
  expect(twin.asked).toEqual([])
})

test('a megabyte is sent whole', async () => {
  const long = `${SAID} `.repeat(40_000)
  twin.answer({json: {flagged: false}})
  const outcome = await judge(twin, {'lakera.guard': {credentials: {apiKey: 'k'}}}, {body: said(long)})
  expect(checkOf(outcome).verdict).toBe(true)
  expect(twin.asked[0]!.body).toMatchObject({messages: [{role: 'user', content: long}]})
})

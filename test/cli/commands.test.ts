import {describe, expect, test} from 'vitest'
import {fakeGateway, ONE_WORKSPACE, RESEARCH, refusal, run, TWO_WORKSPACES, WORKSPACE} from './support.ts'

const KEY = {id: '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d20', key: 'gk-made-once', object: 'api-key'}
const KEY_ROW = {
  id: KEY.id,
  name: 'blue',
  key: 'gk-ma…once',
  type: 'workspace-service',
  status: 'active',
  expires_at: null,
  created_at: '2026-03-04T05:06:07.000Z',
  rate_limits: [],
  object: 'api-key',
}
const CANARY = 'sk-canary-0123456789'

describe('keys', () => {
  test('a key is made in the only workspace there is, with limits in the words of the operator', async () => {
    const {transport, requests} = fakeGateway({...ONE_WORKSPACE, 'POST /api-keys/workspace/service': KEY})
    const argv = [
      'keys',
      'create',
      'blue',
      '--expires',
      '90d',
      '--budget',
      '25',
      '--reset',
      'monthly',
      '--alert',
      '20',
      '--rate',
      '60rpm',
      '--token-rate',
      '90000rpm',
    ]
    expect(await run(argv, {transport})).toEqual({
      code: 0,
      stdout: 'gk-made-once\n',
      stderr: 'Keep it now: it is not shown again.\n',
    })
    expect(requests.at(-1)).toEqual({
      method: 'POST',
      path: '/v1/api-keys/workspace/service',
      body: {
        name: 'blue',
        workspace_id: WORKSPACE.slug,
        usage_limits: [{type: 'cost', credit_limit: 25, alert_threshold: 20, periodic_reset: 'monthly'}],
        rate_limits: [
          {type: 'requests', unit: 'rpm', value: 60},
          {type: 'tokens', unit: 'rpm', value: 90_000},
        ],
        expires_at: '2026-06-02T05:06:07.000Z',
        scopes: ['completions.write'],
      },
    })
  })

  test('--json prints the reply as it came and nothing beside it', async () => {
    const {transport} = fakeGateway({...ONE_WORKSPACE, 'POST /api-keys/workspace/service': KEY})
    expect(await run(['keys', 'create', 'blue', '--json'], {transport})).toEqual({
      code: 0,
      stdout: `${JSON.stringify(KEY, null, 2)}\n`,
      stderr: '',
    })
  })

  test('--quiet prints the key alone', async () => {
    const {transport} = fakeGateway({...ONE_WORKSPACE, 'POST /api-keys/workspace/service': KEY})
    expect(await run(['keys', 'create', 'blue', '-q'], {transport})).toEqual({
      code: 0,
      stdout: 'gk-made-once\n',
      stderr: '',
    })
  })

  test('an admin key belongs to no workspace and holds every scope of its kind', async () => {
    const {transport, requests} = fakeGateway({'POST /api-keys/organisation/service': KEY})
    expect((await run(['keys', 'create', 'automation', '--admin'], {transport})).code).toBe(0)
    const {scopes, ...rest} = requests.at(-1)!.body as {scopes: string[]}
    expect(rest).toEqual({name: 'automation'})
    expect(scopes).toContain('workspaces.create')
    expect(scopes).not.toContain('completions.write')
  })

  test.each([
    ['by slug', RESEARCH.slug],
    ['by id', RESEARCH.id],
    ['by name', 'research'],
  ])('a workspace is named %s', async (_, named) => {
    const {transport, requests} = fakeGateway({...TWO_WORKSPACES, 'POST /api-keys/workspace/service': KEY})
    await run(['keys', 'create', 'blue', '-w', named], {transport})
    expect(requests.at(-1)!.body).toMatchObject({workspace_id: RESEARCH.slug})
  })

  test('"default" is the workspace that every organisation has', async () => {
    const {transport, requests} = fakeGateway({...TWO_WORKSPACES, 'POST /api-keys/workspace/service': KEY})
    await run(['keys', 'create', 'blue', '-w', 'default'], {transport})
    expect(requests.at(-1)!.body).toMatchObject({workspace_id: WORKSPACE.slug})
  })

  test('where there are several workspaces one must be named, and an unknown one is not found', async () => {
    const {transport, requests} = fakeGateway(TWO_WORKSPACES)
    const known = 'There are: ws-shared-1a2b3c, ws-research-4d5e6f.'
    expect(await run(['keys', 'create', 'blue'], {transport})).toEqual({
      code: 2,
      stdout: '',
      stderr: `gateway: There are 2 workspaces: name one with --workspace. ${known}\n`,
    })
    expect(await run(['keys', 'create', 'blue', '-w', 'sales'], {transport})).toEqual({
      code: 3,
      stdout: '',
      stderr: `gateway: No workspace is called sales. ${known}\n`,
    })
    expect(requests.every(({method}) => method === 'GET')).toBe(true)
  })

  test('a key that may not list workspaces leaves its own to the gateway', async () => {
    const answers = {'GET /admin/workspaces': refusal(403, 'AB03', 'No.'), 'POST /api-keys/workspace/service': KEY}
    const {transport, requests} = fakeGateway(answers, 'there')
    expect((await run(['keys', 'create', 'blue'], {transport})).code).toBe(0)
    expect(requests.at(-1)!.body).toEqual({name: 'blue', scopes: ['completions.write']})
  })

  test('a list is a table, without cuts in a pipe', async () => {
    const {transport} = fakeGateway({'GET /api-keys': {object: 'list', total: 7, data: [KEY_ROW]}})
    const list = await run(['keys', 'list', '--limit', '1'], {transport})
    const cells = list.stdout.split('\n').map(line => line.split(/ {2,}/))
    expect(cells).toEqual([
      ['ID', 'NAME', 'WORKSPACE', 'KEY', 'TYPE', 'STATUS', 'BUDGET', 'USED', 'EXPIRES', 'CREATED'],
      [KEY.id, 'blue', '-', 'gk-ma…once', 'workspace-service', 'active', '-', '-', 'never', '2026-03-04 05:06'],
      [''],
    ])
    expect(list).toMatchObject({
      code: 0,
      stderr: '1 of 7 are shown; --page and --limit show others.\n',
    })
  })

  test('the page is counted from 1 where operations count from 0', async () => {
    const {transport, requests} = fakeGateway({'GET /api-keys': {object: 'list', total: 0, data: []}})
    await run(['keys', 'list', '--page', '3', '--limit', '50'], {transport})
    expect(requests[0]!.path).toBe('/v1/api-keys?page_size=50&current_page=2')
  })

  test('colours are for terminals, unless NO_COLOR or --no-color', async () => {
    const answers = {'GET /api-keys': {object: 'list', total: 1, data: [KEY_ROW]}}
    const on = (argv: string[], around: object) =>
      run(['keys', 'list', ...argv], {transport: fakeGateway(answers).transport, ...around})
    expect((await on([], {terminal: 200})).stdout).toContain('\x1b[32mactive\x1b[0m')
    for (const said of [
      await on([], {}),
      await on(['--no-color'], {terminal: 200}),
      await on([], {terminal: 200, env: {NO_COLOR: '1'}}),
    ])
      expect(said.stdout).not.toContain('\x1b')
  })

  test('a key is named by its name; several of one name are told apart by id', async () => {
    const other = {...KEY_ROW, id: '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d21'}
    const answers = {'GET /api-keys': {object: 'list', total: 1, data: [KEY_ROW]}, [`PUT /api-keys/${KEY.id}`]: {}}
    const {transport, requests} = fakeGateway(answers)
    expect(await run(['keys', 'update', 'blue', '--rate', '5rpm'], {transport})).toMatchObject({
      code: 0,
      stdout: 'Changed the API key blue.\n',
    })
    expect(requests.at(-1)).toMatchObject({
      method: 'PUT',
      body: {rate_limits: {type: 'requests', unit: 'rpm', value: 5}},
    })
    const twice = fakeGateway({'GET /api-keys': {object: 'list', total: 2, data: [KEY_ROW, other]}})
    expect(await run(['keys', 'delete', 'blue'], twice)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`They are: ${KEY.id}, ${other.id}.`),
    })
    expect(twice.requests.map(({method}) => method)).toEqual(['GET'])
    const none = fakeGateway({'GET /api-keys': {object: 'list', total: 0, data: []}})
    expect(await run(['keys', 'show', 'blue'], none)).toMatchObject({
      code: 3,
      stderr: 'gateway: No API key has the name or id blue. gateway keys list shows them.\n',
    })
  })

  test('--no-budget takes a budget away, and an update must say something', async () => {
    const {transport, requests} = fakeGateway({[`PUT /api-keys/${KEY.id}`]: {}})
    await run(['keys', 'update', KEY.id, '--no-budget', '--no-rate', '--expires', 'never'], {transport})
    expect(requests[0]!.body).toEqual({usage_limits: null, rate_limits: null, expires_at: null})
    expect(await run(['keys', 'update', KEY.id], {transport})).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Nothing to change was said.'),
    })
  })
})

describe('providers', () => {
  const MADE = {
    ...ONE_WORKSPACE,
    'POST /integrations': {id: '1', slug: 'my-openai'},
    'PUT /integrations/my-openai/workspaces': {},
  }

  test('without a credential that the kind needs there is a warning that says how; a local kind needs none', async () => {
    const made = () => fakeGateway({...MADE, 'POST /providers': {id: '2', slug: 'my-openai'}})
    const openai = await run(['providers', 'create', 'my-openai', '--kind', 'openai'], made())
    expect([openai.code, openai.stderr]).toEqual([
      0,
      'warning: the integration my-openai has no credential; add it with gateway integrations update my-openai --key-file FILE\n',
    ])
    for (const more of [
      ['--kind', 'ollama', '--custom-host', 'http://10.0.0.5:11434'],
      ['--kind', 'openai', '--key', 'sk'],
    ])
      expect((await run(['providers', 'create', 'my-openai', ...more], made())).stderr).not.toContain('warning')
    const {stderr} = await run(['integrations', 'create', 'my-openai', '--kind', 'bedrock'], made())
    expect(stderr).toContain(
      'warning: the integration my-openai has no credential; add it with gateway integrations update my-openai --key-file FILE (or its login',
    )
  })

  test('without the address of a kind that has none there is a warning that says how to give it', async () => {
    const made = () => fakeGateway({...MADE, 'POST /providers': {id: '2', slug: 'my-openai'}})
    const warning =
      'warning: the integration my-openai has no address, and the kind vllm has none of its own; ' +
      'add it with gateway integrations update my-openai --custom-host URL\n'
    for (const noun of ['providers', 'integrations'])
      expect((await run([noun, 'create', 'my-openai', '--kind', 'vllm'], made())).stderr).toContain(warning)
    for (const more of [
      ['--kind', 'vllm', '--custom-host', 'http://10.0.0.5:8000'],
      ['--kind', 'azure-openai', '--key', 'sk'],
      ['--kind', 'groq', '--key', 'sk'],
    ])
      expect((await run(['providers', 'create', 'my-openai', ...more], made())).stderr).not.toContain('address')
  })

  test('what no list says of models, and what no source says of a kind, is told with what there is to do', async () => {
    const {transport} = fakeGateway({
      'GET /integrations/local/models': {total: 0, models: []},
      'GET /integrations/local': [{allow_all_models: true}, {allow_all_models: false}],
      'GET /model-configs/general/openai': refusal(404, 'AB08', 'Provider not found'),
    })
    const models = ['integrations', 'models', 'local']
    expect(await run(models, {transport})).toMatchObject({
      ...{code: 0, stdout: '', stderr: expect.stringContaining('all models of the provider may be called')},
    })
    expect((await run(models, {transport})).stderr).toContain('only named models may be called')
    expect(JSON.parse((await run([...models, '--json'], {transport})).stdout)).toEqual({total: 0, models: []})
    expect(await run(['providers', 'capabilities', 'openai'], {transport})).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^gateway: No source of capabilities says anything of openai\. .*LOCAL_PATH/),
    })
  })

  test('the provider that opening an integration made is named, and no other', async () => {
    const ID = '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d77'
    const says = (integration_id: string) => ({
      ...ONE_WORKSPACE,
      'POST /providers': refusal(409, 'AB09', 'The slug local is taken by another provider.'),
      'GET /providers/local': {slug: 'local', integration_id},
      'GET /integrations/local': {id: ID, slug: 'local'},
    })
    const argv = ['providers', 'create', 'local', '--integration', 'local']
    expect(await run(argv, fakeGateway(says(ID)))).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/^gateway: The integration local has the provider @local already\. Call it as/),
    })
    expect((await run(argv, fakeGateway(says('other')))).stderr).toContain('is taken by another provider')
  })

  test('a kind and a key make an integration, open it to the workspace, and make the provider', async () => {
    const {transport, requests} = fakeGateway({...MADE, 'POST /providers': {id: '2', slug: 'my-openai'}})
    const argv = ['providers', 'create', 'my-openai', '--kind', 'openai', '--key-file', 'k', '--budget', '50']
    expect(await run(argv, {transport, files: {k: `${CANARY}\n`}})).toEqual({
      code: 0,
      stdout: 'Created the provider @my-openai. Call it as the model @my-openai/MODEL.\n',
      stderr: '',
    })
    expect(requests.slice(1).map(({method, path, body}) => [method, path, body])).toEqual([
      [
        'POST',
        '/v1/integrations',
        {slug: 'my-openai', name: 'my-openai', create_default_provider: false, ai_provider_id: 'openai', key: CANARY},
      ],
      [
        'PUT',
        '/v1/integrations/my-openai/workspaces',
        {workspaces: [{id: WORKSPACE.slug, enabled: true, create_default_provider: false}]},
      ],
      [
        'POST',
        '/v1/providers',
        {
          slug: 'my-openai',
          name: 'my-openai',
          workspace_id: WORKSPACE.slug,
          usage_limits: [{type: 'cost', credit_limit: 50}],
          integration_id: 'my-openai',
        },
      ],
    ])
  })

  test('a local model needs an address and no key', async () => {
    const {transport, requests} = fakeGateway({
      ...MADE,
      'POST /integrations': {id: '1', slug: 'my-openai'},
      'POST /providers': {id: '2', slug: 'local'},
    })
    await run(['providers', 'create', 'local', '--kind', 'ollama', '--custom-host', 'http://10.0.0.5:11434/v1'], {
      transport,
    })
    expect(requests[1]!.body).toEqual({
      slug: 'local',
      name: 'local',
      create_default_provider: false,
      ai_provider_id: 'ollama',
      configurations: {custom_host: 'http://10.0.0.5:11434/v1'},
    })
  })

  test('where the provider is refused, the integration is taken back and the refusal is told', async () => {
    const {transport, requests} = fakeGateway({
      ...MADE,
      'POST /providers': refusal(409, 'AB07', 'The slug my-openai is taken by another provider.'),
      'DELETE /integrations/my-openai': {},
    })
    expect(await run(['providers', 'create', 'my-openai', '--kind', 'openai', '--json'], {transport})).toEqual({
      code: 4,
      stdout: '',
      stderr: `${JSON.stringify({error: {message: 'The slug my-openai is taken by another provider.', code: 'AB07', status: 409}}, null, 2)}\n`,
    })
    expect(requests.at(-1)).toMatchObject({method: 'DELETE', path: '/v1/integrations/my-openai'})
  })

  test('an integration that is in the way is left alone, and the way on is told', async () => {
    const {transport, requests} = fakeGateway({...ONE_WORKSPACE, 'POST /integrations': refusal(409, 'AB07', 'exists')})
    const {code, stderr} = await run(['providers', 'create', 'my-openai', '--kind', 'openai'], {transport})
    expect({code, stderr}).toEqual({
      code: 4,
      stderr:
        'gateway: There is an integration called my-openai already. Make a provider of it with --integration my-openai, or delete it first: gateway integrations delete my-openai\n',
    })
    expect(requests.map(({method}) => method)).toEqual(['GET', 'POST'])
  })

  test.each([
    ['--key-file', ['--key-file', 'k'], {files: {k: CANARY}}],
    ['--key-stdin', ['--key-stdin'], {stdin: `${CANARY}\n`}],
    ['--key', ['--key', CANARY], {}],
  ])('a key given by %s is sent and never echoed, refused or not', async (_, how, around) => {
    for (const answer of [{slug: 'x'}, refusal(400, 'AB01', 'key: expected visible ASCII characters on one line.')]) {
      const {transport, requests} = fakeGateway({'POST /integrations': answer})
      const {stdout, stderr} = await run(['integrations', 'create', 'x', '--kind', 'openai', ...how], {
        transport,
        ...around,
      })
      expect(requests[0]!.body).toMatchObject({key: CANARY})
      expect(stdout + stderr).not.toContain(CANARY)
    }
  })

  test('a key on the command line is warned of', async () => {
    const {transport} = fakeGateway({'POST /integrations': {slug: 'x'}})
    const {stderr} = await run(['integrations', 'create', 'x', '--kind', 'openai', '--key', CANARY], {transport})
    expect(stderr).toContain('--key is seen by everybody on this machine (ps)')
  })

  test.each([
    ['two ways at once', ['--key-stdin', '--key-file', 'k'], {stdin: CANARY, files: {k: CANARY}}, 'Give the key once'],
    ['an empty file', ['--key-file', 'k'], {files: {k: ' \n'}}, 'k is empty; it should hold the key.'],
    ['no such file', ['--key-file', 'k'], {files: {}}, '--key-file k cannot be read: there is no such file.'],
    ['stdin that is the terminal', ['--key-stdin'], {}, '--key-stdin reads a pipe'],
  ])('%s is a wrong command line', async (_, how, around, sentence) => {
    const {transport, requests} = fakeGateway({})
    expect(
      await run(['integrations', 'create', 'x', '--kind', 'openai', ...how], {transport, ...around}),
    ).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(sentence),
    })
    expect(requests).toEqual([])
  })
})

describe('the rest', () => {
  test('a workspace is deleted by its exact name, which the command looks up', async () => {
    const answers = {
      ...TWO_WORKSPACES,
      [`GET /admin/workspaces/${RESEARCH.slug}`]: RESEARCH,
      [`DELETE /admin/workspaces/${RESEARCH.slug}`]: {},
    }
    const {transport, requests} = fakeGateway(answers)
    expect(await run(['workspaces', 'delete', 'research', '--force'], {transport})).toMatchObject({
      code: 0,
      stdout: 'Archived the workspace research.\n',
    })
    expect(requests.at(-1)).toMatchObject({method: 'DELETE', body: {name: 'research', force_delete: true}})
  })

  test('a config is saved from a file or from stdin, and what is no JSON is not echoed', async () => {
    const {transport, requests} = fakeGateway({
      ...ONE_WORKSPACE,
      'POST /configs': {success: true, data: {id: '1', slug: 'pc-main-1a2b3c', version_id: '2'}},
    })
    const config = {provider: '@my-openai'}
    expect(
      await run(['configs', 'create', 'main', '--config', 'main.json', '--default'], {
        transport,
        files: {'main.json': JSON.stringify(config)},
      }),
    ).toMatchObject({
      code: 0,
      stdout: 'Saved the config main: pc-main-1a2b3c\n',
    })
    expect(requests.at(-1)!.body).toEqual({name: 'main', config, workspace_id: WORKSPACE.slug, isDefault: 1})
    expect(
      await run(['configs', 'create', 'main', '--config', '-', '-q'], {transport, stdin: JSON.stringify(config)}),
    ).toMatchObject({
      stdout: 'pc-main-1a2b3c\n',
    })
    expect(
      await run(['configs', 'create', 'main', '--config', '-'], {transport, stdin: `{"api_key": "${CANARY}`}),
    ).toEqual({
      code: 2,
      stdout: '',
      stderr: 'gateway: What stdin holds is not JSON.\n',
    })
  })

  test('the models of an integration are changed and then listed', async () => {
    const models = {
      total: 1,
      models: [{slug: 'gpt-5', name: 'gpt-5', enabled: true, is_custom: false, pricing_config: null}],
    }
    const {transport, requests} = fakeGateway({
      'PUT /integrations/x/models': {},
      'DELETE /integrations/x/models': {},
      'GET /integrations/x/models': models,
    })
    const {stdout} = await run(['integrations', 'models', 'x', '--allow', 'gpt-5', '--only', '--remove', 'a', 'b'], {
      transport,
    })
    expect(stdout).toBe('MODEL  ENABLED  CUSTOM  OWN PRICE\ngpt-5  yes      no      no\n')
    expect(requests.map(({method, path, body}) => [method, path, body])).toEqual([
      ['PUT', '/v1/integrations/x/models', {models: [{slug: 'gpt-5', enabled: true}], allow_all_models: false}],
      ['DELETE', '/v1/integrations/x/models?slugs=a%2Cb', undefined],
      ['GET', '/v1/integrations/x/models', undefined],
    ])
  })

  test('an integration is opened to workspaces', async () => {
    const {transport, requests} = fakeGateway({
      ...TWO_WORKSPACES,
      'PUT /integrations/x/workspaces': {},
      'GET /integrations/x/workspaces': {total: 0, workspaces: []},
    })
    await run(
      ['integrations', 'workspaces', 'x', '--open', 'research', '--close', 'default', '--provider', 'my-openai'],
      {transport},
    )
    expect(requests.find(({method}) => method === 'PUT')!.body).toEqual({
      workspaces: [
        {id: RESEARCH.slug, enabled: true},
        {id: WORKSPACE.slug, enabled: false},
      ],
      default_provider_slug: 'my-openai',
    })
  })

  test('prices are in dollars a million tokens', async () => {
    const row = {
      provider: 'openai',
      model: 'gpt-5',
      pay_as_you_go: {request_token: {price: 0.000125}, response_token: {price: 0.001}},
    }
    const {transport} = fakeGateway({'GET /model-configs/pricing': {object: 'list', total: 1, data: [row]}})
    expect((await run(['pricing', 'show', '--provider', 'openai'], {transport})).stdout).toBe(
      'PROVIDER  MODEL  INPUT $/M  OUTPUT $/M  CACHE READ $/M  CACHE WRITE $/M\nopenai    gpt-5       1.25          10               -                -\n',
    )
  })

  test('the whole catalogue of prices is shown, however many pages it has', async () => {
    const rows = (first: number, count: number) =>
      Array.from({length: count}, (_, at) => ({provider: 'openai', model: `m-${first + at}`}))
    const page = (first: number, count: number) => ({object: 'list', total: 1001, data: rows(first, count)})
    const {transport, requests} = fakeGateway({'GET /model-configs/pricing': [page(0, 1000), page(1000, 1)]})
    const reply = JSON.parse((await run(['pricing', 'show', '--json'], {transport})).stdout)
    expect(reply).toEqual(page(0, 1001))
    expect(requests.map(({path}) => path)).toEqual(
      [0, 1].map(at => `/v1/model-configs/pricing?page_size=1000&current_page=${at}`),
    )
  })

  test('a call that was refused shows its key, its reason, and its cost in dollars', async () => {
    const id = '0197f0a2-6d1e-7c3b-9f0e-2b1f6a1c9d11'
    const row = {
      id,
      created_at: '2026-03-04T05:06:07.000Z',
      response_status_code: 412,
      cost: 0.0195,
      api_key_id: 'k',
      api_key_name: 'blue',
      error: 'Used up.',
    }
    const {transport} = fakeGateway({
      'GET /logs': {object: 'list', total: 1, data: [row]},
      [`GET /logs/${id}`]: {metrics: row},
    })
    expect((await run(['logs', 'list', '-q'], {transport})).stdout).toBe(`${id}\n`)
    expect((await run(['logs', 'list'], {transport})).stdout).toMatch(/0\.000195 +- +blue +Used up\.\n$/)
    const {stdout} = await run(['logs', 'show', id], {transport})
    expect(stdout).toMatch(/^reason +Used up\.\nkey +blue \(k\)\ncost +\$0\.000195\n/)
  })

  test('logs are followed: what is new, in the order of time, until a signal', async () => {
    const row = (id: string, second: number) => ({
      id,
      created_at: `2026-03-04T05:06:0${second}.000Z`,
      ai_org: 'openai',
      ai_model: 'gpt-5',
      response_status_code: 200,
      total_units: 15,
      cost: 0.0123,
      response_time: 20,
    })
    const list = (...data: object[]) => ({object: 'list', total: data.length, data})
    const [first, second, third] = [row('a', 1), row('b', 2), row('c', 3)]
    const {transport} = fakeGateway({
      'GET /logs': [list(first), list(third, second, first), list(third, second, first)],
    })
    let raise: (name: string) => void = () => undefined
    let waits = 0
    const around = {
      transport,
      onListening(given: typeof raise) {
        raise = given
      },
      onSleep() {
        waits += 1
        if (waits === 3) raise('SIGINT')
      },
    }
    const {code, stdout} = await run(['logs', 'tail'], around)
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^TIME +ID +STATUS +PROVIDER +MODEL +TOKENS +COST \$ +MS +KEY +REASON$/)
    // biome-ignore format: lines
    expect(lines.slice(1).map(line => line.split(/\s{2,}/).slice(1).join('|'))).toEqual(['a|200|openai|gpt-5|15|0.000123|20|-|-', 'b|200|openai|gpt-5|15|0.000123|20|-|-', 'c|200|openai|gpt-5|15|0.000123|20|-|-'])
  })

  test('an operation that this version lacks is said to be lacking', async () => {
    const {gatewayOver} = await import('../../cli/connect.ts')
    const {transport, requests} = fakeGateway({})
    const gateway = gatewayOver(transport, [], {} as never)
    await expect(gateway.call('logs.list')).rejects.toMatchObject({
      message: 'This version of gateway does not offer logs.list.',
      exit: 1,
    })
    expect(requests).toEqual([])
  })
})

describe('refusals', () => {
  test.each([
    [400, 2],
    [401, 4],
    [403, 4],
    [404, 3],
    [409, 4],
    [412, 4],
    [429, 4],
    [500, 1],
    [503, 1],
  ])('%i is told in the words of the gateway and ends with %i', async (status, code) => {
    const {transport} = fakeGateway({'GET /integrations': refusal(status, 'AB01', 'It was refused.')})
    expect(await run(['integrations', 'list'], {transport})).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringMatching(/^gateway: It was refused\./),
    })
  })

  test('what a model call answers is understood too, and what no gateway says', async () => {
    const openai = fakeGateway(
      {
        'POST /chat/completions': {
          status: 412,
          body: {error: {message: 'The usage limit is used up.', type: 'exhausted', code: null}},
        },
      },
      'there',
    )
    expect(
      await run(['api', 'POST', '/chat/completions', '--body', '-'], {transport: openai.transport, stdin: '{}'}),
    ).toMatchObject({
      code: 4,
      stderr: 'gateway: The usage limit is used up.\n',
    })
    const other = fakeGateway({'GET /integrations': {status: 502, body: '<html>Bad gateway</html>'}}, 'there')
    expect(await run(['integrations', 'list'], other)).toMatchObject({
      code: 1,
      stderr: 'gateway: The answer was 502 without a reason. Is it a gateway that answers at this address?\n',
    })
  })

  test('where something is not found, the list is named', async () => {
    const {transport} = fakeGateway({})
    expect(await run(['configs', 'show', 'nope'], {transport})).toMatchObject({
      code: 3,
      stderr: 'gateway: No row is known by this id. gateway configs list shows what there is.\n',
    })
    // of another kind than the command is about
    const missing = refusal(404, 'AB08', 'integration_id: no integration is known by the id nope.')
    const other = fakeGateway({...ONE_WORKSPACE, 'POST /providers': missing})
    const {stderr} = await run(['providers', 'create', 'local', '--integration', 'nope'], other)
    expect(stderr).toContain('is known by the id nope. gateway integrations list shows what there is.')
  })
})

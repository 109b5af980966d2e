/** Examples of --help that no test can run, and why. */
export const UNRUN: Readonly<Record<string, string>> = {
  'gateway pricing diff https://prices.example.com/list.json': 'asks a host elsewhere',
  'gateway pricing sync https://prices.example.com --provider openai anthropic --from 2030-01-01':
    'asks a host elsewhere',
  'gateway config show --running': 'a gateway serves meanwhile: test/cli/running-settings.test.ts has one',
  'gateway mcp tools docs': 'asks a host elsewhere: test/cli/mcp-calls.test.ts has one',
  'gateway mcp tools docs --json': 'asks a host elsewhere: test/cli/mcp-calls.test.ts has one',
  'gateway mcp call docs search --arg query=billing --arg limit=5':
    'asks a host elsewhere: test/cli/mcp-calls.test.ts has one',
  'gateway mcp call docs search --json-args \'{"query": "billing"}\' --json':
    'asks a host elsewhere: test/cli/mcp-calls.test.ts has one',
  'gateway mcp-servers set-tokens docs --file tokens.json --url https://gateway.example.com':
    'a user keeps tokens of his own: test/admin/mcp-tokens.test.ts has one',
  'gateway mcp connect docs': 'a person signs in: test/cli/mcp-calls.test.ts has one',
  'gateway mcp connect docs --timeout 60': 'a person signs in: test/cli/mcp-calls.test.ts has one',
  'gateway mcp add tickets https://mcp.example.com/mcp --workspace research':
    'asks a host elsewhere: test/cli/mcp-calls.test.ts has one',
  'gateway mcp add tickets https://mcp.example.com/mcp --workspace research --header authorization="Bearer $TOKEN"':
    'asks a host elsewhere: test/cli/mcp-calls.test.ts has one',
  'gateway mcp test house-docs': 'asks a host elsewhere',
  'gateway secret-references test': 'asks a host elsewhere: test/secrets/calls.test.ts has the operation',
  'gateway secret-references test vault-mcp': 'asks a host elsewhere: test/secrets/calls.test.ts has the operation',
  'gateway mcp test docs --server': 'asks a host elsewhere',
  'gateway sso test entra': 'asks a host elsewhere',
  'gateway sso test house --username ada': 'asks a host elsewhere',
  'gateway sso test entra --email ada@example.com --verified --group gw-admins': 'asks a host elsewhere',
  'gateway login https://gateway.example.com': 'a person confirms it: test/cli/login.test.ts has one',
  'gateway login https://gateway.example.com --browser --name prod':
    'a person confirms it: test/cli/login.test.ts has one',
}

/** What lines of the pages begin with that no test can run, and why. */
export const UNRUN_OF_PAGES: Readonly<Record<string, string>> = {
  'npm start': 'the gateway of the checkout: gateway serve --demo is run',
  'npm test': 'these tests',
  'npm run build': 'makes the executable, which test/vitest.binary.ts tries',
  'curl http://127.0.0.1:8787': 'calls the gateway of the line before, as test/server.test.ts does',
  'sudo ./install.sh': 'installs for the whole machine: test/install.test.ts does it in a folder',
  'SMTP_HOST=mail.example.com': 'a mail server and a secret of somebody’s own: test/ports has a mail server',
  'gateway login https://': 'a person confirms it: test/cli/login.test.ts has one',
  'gateway mcp tools docs': 'asks a host elsewhere: test/cli/mcp-calls.test.ts has one',
  'gateway mcp call docs': 'asks a host elsewhere: test/cli/mcp-calls.test.ts has one',
  'gateway secret-references test openai-key': 'asks a host elsewhere: test/secrets/calls.test.ts has the operation',
  'node test/cache/semantic/gate/measure.ts FOLDER': 'a folder of pairs that the checkout does not have',
  'mkdir -p /tmp/pkg/app': 'asks the registry of packages',
  'cp REPO/': 'another packager, which is not installed here',
  'echo \'{"name":"gateway"': 'another packager, which is not installed here',
  'N=node-v24': 'another packager, which is not installed here',
  'cd app': 'another packager, which is not installed here',
  '"pkg":{"assets"': 'another packager, which is not installed here',
}

/**
 * Pages whose lines follow from each other: the test that runs each in order and looks at what it prints, and how many
 * there are.
 */
export const RUN_ELSEWHERE: Readonly<Record<string, readonly [file: string, lines: number]>> = {
  'docs/pricing.md': ['pricing-page.test.ts', 12],
  'docs/gitops.md': ['gitops-page.test.ts', 5],
  'docs/guardrails.md': ['guardrails-page.test.ts', 9],
  'docs/prompts.md': ['prompts-page.test.ts', 12],
}

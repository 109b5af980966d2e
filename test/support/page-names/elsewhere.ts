/** Names that pages have and the repository does not, with the reason, and the pages that may have them. */
interface Elsewhere {
  readonly pages: string
  readonly reason: string
  readonly names: string
}

export const ELSEWHERE: readonly Elsewhere[] = [
  {
    pages: 'README.md',
    reason: 'a variable of the shell in an example',
    names: 'OPENAI_API_KEY',
  },
  {
    pages: 'docs/gitops.md',
    reason: 'variables of the shell in examples',
    names: 'ANTHROPIC_API_KEY MASTER_KEY OPENAI_API_KEY',
  },
  {
    pages: 'docs/api.md',
    reason: 'stands for a key to fill in',
    names: 'YOUR_KEY',
  },
  {
    pages: 'docs/clients.md',
    reason: 'stand for the keys to fill in',
    names: 'GATEWAY_KEY YOUR_KEY',
  },
  {
    pages: 'docs/clients.md',
    reason: 'variables that clients read',
    names:
      'ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_DEFAULT_HAIKU_MODEL ANTHROPIC_MODEL ' +
      'AWS_BEARER_TOKEN_BEDROCK DEFAULT_MODELS GEMINI_API_KEY GEMINI_MODEL GOOGLE_GEMINI_BASE_URL OPENAI_API_BASE_URL ' +
      'OPENAI_API_KEY',
  },
  {
    pages: 'docs/clients.md',
    reason: 'files of clients and members of them',
    names: '.aider.conf.yml gemini-api-key opencode.json promptfooconfig.yaml security.auth.selectedType',
  },
  {
    pages: 'docs/certificates.md',
    reason: 'variables of OpenSSL and of Python, and a package of Debian',
    names: 'REQUESTS_CA_BUNDLE SSL_CERT_FILE libnss3-tools',
  },
  {
    pages: 'docs/cli.md',
    reason: 'read by the command line alone, which is no setting of a gateway',
    names: 'GATEWAY_CONTEXT NO_COLOR XDG_CONFIG_HOME XDG_RUNTIME_DIR XDG_STATE_HOME',
  },
  {
    pages: 'docs/configs.md',
    reason: 'a value of Oracle’s',
    names: 'ON_DEMAND',
  },
  {
    pages: 'docs/certificates.md docs/cli.md docs/settings.md',
    reason: 'read by Node itself',
    names: 'NODE_EXTRA_CA_CERTS',
  },
  {
    pages: 'docs/gitops.md',
    reason: 'a form of names whose parts are filled in',
    names: 'KIND/WORKSPACE/SLUG.yaml',
  },
  {
    pages: 'docs/settings.md',
    reason: 'forms of names whose parts are filled in',
    names: 'NAME_FILE NAME_PATH OTEL_EXPORTER_OTLP',
  },
  {
    pages: 'docs/settings.md',
    reason: 'values of settings',
    names: 'NO_AUTH VERIFY_CA VERIFY_IDENTITY',
  },
  {
    pages: 'docs/sign-in.md',
    reason: 'a header between the own pages and the gateway, which no call has',
    names: 'x-gateway-csrf',
  },
  {
    pages: 'docs/doors.md',
    reason: 'a variable of a client',
    names: 'AWS_BEARER_TOKEN_BEDROCK',
  },
  {
    pages: 'docs/guardrails.md',
    reason: 'a credential, in the words of its service',
    names: 'AIRS_API_KEY',
  },
  {
    pages: 'docs/operating.md',
    reason: 'a variable of the C library',
    names: 'MALLOC_ARENA_MAX',
  },
  {
    pages: 'docs/pricing.md',
    reason: 'a type of traffic, in the words of Google',
    names: 'PROVISIONED_THROUGHPUT',
  },
  {
    pages: 'docs/providers.md',
    reason: 'values of Oracle’s and Snowflake’s',
    names: 'KEYPAIR_JWT ON_DEMAND PROGRAMMATIC_ACCESS_TOKEN',
  },
  {
    pages: 'docs/architecture.md',
    reason: 'of Node’s inspector and its hooks of performance',
    names: 'PerformanceObserver HeapProfiler.startSampling',
  },
  {
    pages: 'docs/architecture.md',
    reason: 'options of Node’s inspector',
    names: 'includeObjectsCollectedByMajorGC includeObjectsCollectedByMinorGC',
  },
  {
    pages: 'docs/architecture.md',
    reason: 'libraries that are not used',
    names: 'aws4fetch oauth4webapi google-auth-library libphonenumber-js',
  },
  {
    pages: 'docs/mcp.md',
    reason: 'settings of clients of MCP, and a client',
    names: 'httpUrl context_servers mcp-remote',
  },
  {
    pages: 'docs/mcp.md',
    reason: 'files of clients of MCP',
    names: 'claude_desktop_config.json .cursor/mcp.json .vscode/mcp.json .mcp.json opencode.json',
  },
  {
    pages: 'docs/mcp.md',
    reason: 'a form of names, whose parts are filled in',
    names: 'SERVER__TOOL mcp__SERVER__TOOL',
  },
  {
    pages: 'docs/packaging.md',
    reason: 'of systemd and of Debian, and what an installation has',
    names: 'DynamicUser AmbientCapabilities CAP_NET_BIND_SERVICE qemu-user-static bin/gateway',
  },
  {
    pages: 'docs/packaging.md',
    reason: 'an option of another packager',
    names: '--sea',
  },
  {
    pages: 'docs/scim.md',
    reason: 'a form of names, whose parts are filled in',
    names: 'ws-WORKSPACE-role-ROLE',
  },
  {
    pages: 'docs/telemetry.md',
    reason: 'ends of names, each behind the name before',
    names: '_PROTOCOL _TIMEOUT _COMPRESSION _CERTIFICATE _CLIENT_CERTIFICATE _CLIENT_KEY',
  },
  {
    pages: 'docs/telemetry.md',
    reason: 'a metric of the convention that is not sent',
    names: 'gen_ai.client.operation.time_per_output_chunk',
  },
]

export const isElsewhere = (page: string, name: string) =>
  ELSEWHERE.some(({pages, names}) => pages.split(' ').includes(page) && names.split(' ').includes(name))

import {Command} from 'commander'
import {version} from '../src/base/runtime.ts'
import type {FlagOption} from '../src/settings/index.ts'
import {analytics} from './commands/analytics.ts'
import {api} from './commands/api.ts'
import {applyCommand} from './commands/apply.ts'
import {audit} from './commands/audit.ts'
import {bundle} from './commands/bundle.ts'
import {cache} from './commands/cache.ts'
import {certs} from './commands/certs.ts'
import {collections} from './commands/collections.ts'
import {completion} from './commands/completion.ts'
import {config} from './commands/config-show.ts'
import {configs} from './commands/configs.ts'
import {contexts} from './commands/contexts.ts'
import {init, migrate} from './commands/data.ts'
import {deployments} from './commands/deployments.ts'
import {domains} from './commands/domains.ts'
import {exportCommand} from './commands/export.ts'
import {feedback} from './commands/feedback.ts'
import {groups} from './commands/groups.ts'
import {guardrails} from './commands/guardrails.ts'
import {identities} from './commands/identities.ts'
import {importCommand} from './commands/import.ts'
import {integrations} from './commands/integrations.ts'
import {invites} from './commands/invites.ts'
import {jwt} from './commands/jwt.ts'
import {keys} from './commands/keys.ts'
import {labels} from './commands/labels.ts'
import {ledger} from './commands/ledger.ts'
import {limits} from './commands/limits.ts'
import {login, logout} from './commands/login.ts'
import {logs} from './commands/logs.ts'
import {mcp} from './commands/mcp.ts'
import {mcpIntegrations} from './commands/mcp-integrations.ts'
import {mcpOauthClients} from './commands/mcp-oauth-clients.ts'
import {mcpServers} from './commands/mcp-servers.ts'
import {members} from './commands/members.ts'
import {organisations} from './commands/organisations.ts'
import {partials} from './commands/partials.ts'
import {policies} from './commands/policies.ts'
import {pricing} from './commands/pricing.ts'
import {prompts} from './commands/prompts.ts'
import {providers} from './commands/providers.ts'
import {replay} from './commands/replay.ts'
import {scim} from './commands/scim.ts'
import {scopes} from './commands/scopes.ts'
import {secretReferences} from './commands/secret-references.ts'
import {serve} from './commands/serve.ts'
import {sessions} from './commands/sessions.ts'
import {sso} from './commands/sso.ts'
import {usage} from './commands/usage.ts'
import {users} from './commands/users.ts'
import {versionCommand} from './commands/version.ts'
import {virtualKeys} from './commands/virtual-keys.ts'
import {workers} from './commands/workers.ts'
import {workspaces} from './commands/workspaces.ts'

/** The commands that take every setting as a flag. */
export const TAKE_SETTINGS: readonly string[] = ['serve', 'init', 'migrate', 'config', 'completion']

/** The command tree. `flags` are those of the settings, for the commands that take them. */
export function buildProgram(flags: readonly FlagOption[]): Command {
  const root = new Command('gateway')
    .description(
      'A self-hosted AI gateway. Commands work on the data directory of this machine, or with --url on a gateway elsewhere.',
    )
    .version(version, '-V, --version', 'Say the version')
    .option('--data-dir <path>', 'data directory of this machine (GATEWAY_DATA_DIR; default: ./.gateway)')
    .option('--settings <file>', 'settings file (GATEWAY_SETTINGS_FILE; default: settings.yaml in the data directory)')
    .option('--organisation <slug>', 'organisation to act in, on the data directory; the first one where none is named')
    .option('--url <url>', 'gateway to talk to, in place of a data directory (GATEWAY_URL)')
    .option('--context <name>', 'context to work in, of gateway login (GATEWAY_CONTEXT)')
    .option('--api-key-file <file>', 'file with the API key for that gateway (or GATEWAY_API_KEY)')
    .option('--api-key <key>', 'the key itself; others on this machine can see it (ps)')
    .option('--json', 'print replies as JSON, and errors as JSON on stderr')
    .option('-q, --quiet', 'print only what matters: the key, the slugs')
    .option('--no-color', 'no colours (NO_COLOR)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ gateway serve --demo\n  $ gateway keys create blue --expires 90d\n  $ gateway logs tail',
    )
  root.commandsGroup('The gateway:')
  for (const command of [serve(flags), init(flags), migrate(flags), config(flags), certs()]) root.addCommand(command)
  root.commandsGroup('A gateway elsewhere:')
  for (const command of [login(), logout(), contexts()]) root.addCommand(command)
  root.commandsGroup('What it holds:')
  for (const command of [
    keys(),
    workspaces(),
    providers(),
    integrations(),
    virtualKeys(),
    configs(),
    guardrails(),
    secretReferences(),
    mcpIntegrations(),
    mcpServers(),
    mcpOauthClients(),
    mcp(),
    deployments(),
    prompts(),
    partials(),
    collections(),
    labels(),
    policies(),
    limits(),
    logs(),
    analytics(),
    feedback(),
    cache(),
    replay(),
    usage(),
    ledger(),
    pricing(),
    bundle(),
    workers(),
    exportCommand(),
    applyCommand(),
    importCommand(),
  ])
    root.addCommand(command)
  root.commandsGroup('Who may do what:')
  for (const command of [
    organisations(),
    users(),
    invites(),
    members(),
    groups(),
    sessions(),
    sso(),
    identities(),
    jwt(),
    domains(),
    scim(),
    scopes(),
    audit(),
  ])
    root.addCommand(command)
  root.commandsGroup('More:').helpCommand('help [command...]', 'Show the help of a command')
  for (const command of [api(), completion(), versionCommand()]) root.addCommand(command)
  addAliases(root)
  return root
}

/** Shorter words for commands, as people type them for files. */
const ALIASES: Readonly<Record<string, string>> = {list: 'ls', delete: 'rm', remove: 'rm'}

function addAliases(command: Command) {
  const alias = ALIASES[command.name()]
  if (alias !== undefined) command.alias(alias)
  for (const each of command.commands) addAliases(each)
}

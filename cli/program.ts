import {Command} from 'commander'
import {version} from '../src/base/runtime.ts'
import type {FlagOption} from '../src/settings/index.ts'
import {api} from './commands/api.ts'
import {completion} from './commands/completion.ts'
import {configs} from './commands/configs.ts'
import {init, migrate} from './commands/data.ts'
import {integrations} from './commands/integrations.ts'
import {keys} from './commands/keys.ts'
import {logs} from './commands/logs.ts'
import {pricing} from './commands/pricing.ts'
import {providers} from './commands/providers.ts'
import {replay} from './commands/replay.ts'
import {serve} from './commands/serve.ts'
import {config} from './commands/settings.ts'
import {versionCommand} from './commands/version.ts'
import {virtualKeys} from './commands/virtual-keys.ts'
import {workspaces} from './commands/workspaces.ts'

/** The commands that take every setting as a flag. */
export const TAKE_SETTINGS: readonly string[] = ['serve', 'init', 'migrate', 'config', 'completion']

/** The command tree. `flags` are those of the settings, for the commands that take them. */
export function buildProgram(flags: readonly FlagOption[]): Command {
  const root = new Command('gateway')
    .description('A self-hosted AI gateway. Commands work on the data directory of this machine, or with --url on a gateway elsewhere.')
    .version(version, '-V, --version', 'Say the version')
    .option('--data-dir <path>', 'data directory of this machine (GATEWAY_DATA_DIR; default: ./.gateway)')
    .option('--settings <file>', 'settings file (GATEWAY_SETTINGS_FILE; default: settings.yaml in the data directory)')
    .option('--url <url>', 'gateway to talk to, in place of a data directory (GATEWAY_URL)')
    .option('--api-key-file <file>', 'file with the API key for that gateway (or GATEWAY_API_KEY)')
    .option('--api-key <key>', 'the key itself; others on this machine can see it (ps)')
    .option('--json', 'print replies as JSON, and errors as JSON on stderr')
    .option('-q, --quiet', 'print only what matters: the key, the slugs')
    .option('--no-color', 'no colours (NO_COLOR)')
    .addHelpText('after', '\nExamples:\n  $ gateway serve --demo\n  $ gateway keys create blue --expires 90d\n  $ gateway logs tail')
  root.commandsGroup('The gateway:')
  for (const command of [serve(flags), init(flags), migrate(flags), config(flags)]) root.addCommand(command)
  root.commandsGroup('What it holds:')
  for (const command of [keys(), workspaces(), providers(), integrations(), virtualKeys(), configs(), logs(), replay(), pricing()])
    root.addCommand(command)
  root.commandsGroup('More:').helpCommand('help [command]', 'Show the help of a command')
  for (const command of [api(), completion(), versionCommand()]) root.addCommand(command)
  return root
}

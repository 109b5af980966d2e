import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {explanationLines} from '../explanation.ts'
import {readWhole} from '../option-parsers.ts'
import {leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {configFrom, structuredFrom} from '../structured.ts'
import {workspaceFor} from '../workspace.ts'

interface ExplainOptions extends WorkspaceOption {
  readonly config?: string
  readonly request: string
  readonly seed: string
  readonly at?: string
}

/** `gateway configs explain`: where a call would go, why, and what would leave; nothing is sent. */
export function explain(): Command {
  const command = leaf('explain', 'Say where a call would go, why, and what would leave; nothing is sent', [
    'gateway configs explain --config main.json --request request.yaml',
    'gateway configs explain --config pc-main-1a2b3c --request request.yaml --seed 7 --at 2026-01-31T00:00:00Z --json',
  ])
    .requiredOption('--request <file>', 'JSON or YAML with method, path, headers and body; or - for stdin')
    .option('--config <file or slug>', 'a file (a name with a dot or a slash), or the slug of a saved config')
    .option('--seed <n>', 'what draws are made from', '0')
    .option('--at <time>', 'when the call comes in, ISO 8601 with a zone (default: now)')
  return withWorkspace(command, 'workspace the call comes from').action((options: ExplainOptions, self: Command) =>
    withGateway(self, async gateway => {
      const {world, print} = gateway
      const body = {
        request: await structuredFrom(world, options.request, '--request'),
        ...(options.config !== undefined && {config: await configFrom(world, options.config, '--config')}),
        seed: readWhole(options.seed, '--seed', 0, Number.MAX_SAFE_INTEGER),
        ...(options.at !== undefined && {at: options.at}),
        workspace_id: await workspaceFor(gateway, options.workspace),
      }
      const explanation = await gateway.call('configs.explain', {body})
      if (print.json) return print.json_reply(explanation)
      for (const line of explanationLines(explanation)) print.line(line)
    }),
  )
}

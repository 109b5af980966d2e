import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {leaf} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {inputOf, listed, type Noun, named} from './rows.ts'

interface CapabilityRow {
  readonly type: string
  readonly name: string
  readonly enabled: boolean
  readonly description: string | null
}

const COLUMNS: readonly TableColumn<CapabilityRow>[] = [
  {title: 'type', value: row => row.type},
  {title: 'name', value: row => row.name, whole: true},
  {title: 'on', value: row => row.enabled},
  {title: 'description', value: row => row.description},
]

interface Options {
  readonly type?: string
  readonly enable?: readonly string[]
  readonly disable?: readonly string[]
}

type ToolServers = 'mcp_integrations' | 'mcp_servers'

/** Lists what a server of tools offers, or switches it. */
export function capabilitiesCommand<Name extends ToolServers>(noun: Noun<Name>): Command {
  const {command, operations, example} = noun
  return named(
    leaf('capabilities', 'List what it offers (tools, prompts, resources), or switch it on or off', [
      `gateway ${command} capabilities ${example}`,
      `gateway ${command} capabilities ${example} --disable delete_page`,
    ]),
    noun,
  )
    .option(
      '--type <type>',
      'tool, prompt, resource or resource_template; of what is switched, tool where none is said',
    )
    .option('--enable <name...>', 'switch these on')
    .option('--disable <name...>', 'switch these off')
    .action((name: string, {type, enable = [], disable = []}: Options, self: Command) =>
      withGateway(self, async gateway => {
        const {params} = await inputOf(gateway, noun, name, {})
        const both = enable.find(each => disable.includes(each))
        if (both !== undefined) throw usageFault(`${both} is both enabled and disabled; keep one.`)
        const format = (names: readonly string[], enabled: boolean) =>
          names.map(each => ({name: each, type: type ?? 'tool', enabled}))
        const capabilities = [...format(enable, true), ...format(disable, false)]
        if (capabilities.length)
          await gateway.perform(`${operations}.update_capabilities`, {params, body: {capabilities}})
        const query = {type, page_size: 500}
        const reply = await listed<CapabilityRow>(gateway, `${operations}.list_capabilities`, {params, query})
        gateway.print.list(reply, reply.data, COLUMNS, reply.total)
      }),
    )
}

/** Shows what a server of tools reports of itself. */
export function metadataCommand<Name extends ToolServers>(noun: Noun<Name>): Command {
  const {command, operations, example} = noun
  return named(
    leaf('metadata', 'Show what the server told of itself, and when', [`gateway ${command} metadata ${example}`]),
    noun,
  ).action((name: string, _: object, self: Command) =>
    withGateway(self, async gateway => {
      const reply = await gateway.perform(`${operations}.get_metadata`, await inputOf(gateway, noun, name, {}))
      gateway.print.view(reply, reply)
    }),
  )
}

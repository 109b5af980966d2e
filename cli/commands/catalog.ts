import type {Command} from 'commander'
import type {ProviderListing} from '../../src/providers/catalog/view.ts'
import {withGateway} from '../connect.ts'
import {CommandFault} from '../fault.ts'
import {leaf} from '../options.ts'
import {openSession} from '../session.ts'
import type {TableColumn} from '../table.ts'

const COLUMNS: readonly TableColumn<ProviderListing>[] = [
  {title: 'slug', value: row => row.slug, whole: true},
  {title: 'name', value: row => row.name},
  {title: 'host', value: row => row.host ?? '(custom_host)'},
  {title: 'auth', value: row => row.auth.join(' | '), optional: 1},
  {title: 'native', value: row => (row.native === 'all' ? 'all' : row.native.join(' '))},
  {title: 'translated', value: row => row.translated.join(' '), optional: 2},
  {title: 'in its own calls', value: row => row.in_calls.join(' '), optional: 3},
  {title: 'by way of chat', value: row => [...row.through_chat, ...row.where_served].join(' '), optional: 4},
]

/**
 * `gateway providers catalog`: what a provider can be made of. Known to the program itself; no data directory is
 * opened.
 */
export function catalog(): Command {
  return leaf('catalog', 'List every kind of provider: host, authentication, what is native and what is translated', [
    'gateway providers catalog',
    'gateway providers catalog --json',
  ]).action(async (_: object, self: Command) => {
    const {print} = await openSession(self)
    const [{catalogueRow}, {list}] = await Promise.all([
      import('../../src/providers/catalog/view.ts'),
      import('../../src/providers/registry.ts'),
    ])
    const data = list().map(catalogueRow)
    print.list({object: 'list', total: data.length, data}, data, COLUMNS)
    print.note('Every other path of a provider is passed through as it is.')
  })
}

/** `gateway providers capabilities`: what the sources say that models take and give. */
export function capabilities(): Command {
  return leaf(
    'capabilities',
    'Show what the models of a kind of provider can do, as the sources of capabilities say it',
    ['gateway providers capabilities openai', 'gateway providers capabilities anthropic --json'],
  )
    .argument('<kind>', 'kind of provider')
    .action((provider: string, _: object, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const reply = await call('pricing.capabilities', {params: {provider}}).catch(fault => {
          throw fault instanceof CommandFault && fault.status === 404 ? unsaid(provider, fault) : fault
        })
        print.view(reply, reply)
      }),
    )
}

/** The kind may well be known: the sources of capabilities, of which none is set by default, say nothing of it. */
function unsaid(provider: string, {exit, code}: CommandFault): CommandFault {
  return new CommandFault(`No source of capabilities says anything of ${provider}.`, {
    ...{exit, code, status: 404},
    next:
      'Sources are set with MODEL_CONFIGS_CAPABILITIES_LOCAL_PATH or MODEL_CONFIGS_PROXY_URL; ' +
      'gateway providers catalog lists the kinds.',
  })
}

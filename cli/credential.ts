import type {Gateway} from './connect.ts'

/**
 * Warns about an integration without a credential that its kind needs, and tells how to add one: its calls would be
 * refused, and nothing reports it before. A custom host may need none.
 */
export async function warnOfNoCredential(
  gateway: Gateway,
  kind: string,
  integration: string,
  given: {key?: unknown; configurations?: object},
) {
  const options = (given.configurations ?? {}) as Record<string, string>
  if (given.key !== undefined || 'custom_host' in options) return
  const [{find}, {needsKey}] = await Promise.all([
    import('../src/providers/registry.ts'),
    import('../src/providers/base-urls/base-url.ts'),
  ])
  const provider = find(kind)
  if (!provider || !needsKey(provider, options)) return
  const settings = provider.login ? ' (or its login: --set NAME=VALUE, --configurations FILE)' : ''
  gateway.print.note(
    `warning: the integration ${integration} has no credential; add it with ${gateway.typed(`integrations update ${integration} --key-file FILE`)}${settings}`,
  )
}

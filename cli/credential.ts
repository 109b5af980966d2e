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

/** Warns about an integration without an address whose kind has none of its own: every call would be refused. */
export async function warnOfNoAddress(
  gateway: Gateway,
  kind: string,
  integration: string,
  configurations: object | undefined = {},
) {
  if ('custom_host' in configurations) return
  const {find} = await import('../src/providers/registry.ts')
  const provider = find(kind)
  if (!provider || provider.base_url !== null || provider.baseUrlOf) return
  const remedy = gateway.typed(`integrations update ${integration} --custom-host URL`)
  gateway.print.note(
    `warning: the integration ${integration} has no address, and the kind ${kind} has none of its own; ` +
      `add it with ${remedy}`,
  )
}

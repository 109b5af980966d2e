import {Egress} from '../base/egress/pools.ts'
import {readProxies} from '../base/egress/proxy.ts'
import {readTrusted} from '../base/egress/trust.ts'
import type {Settings} from '../settings/index.ts'

type EgressOptions = ConstructorParameters<typeof Egress>[0]

/** A way out as the settings have it; `own` says what else holds for one user of it. */
export function openEgress(settings: Settings, own: Partial<EgressOptions> = {}): Egress {
  return new Egress({
    trusted: readTrusted(settings.trusted_custom_hosts),
    proxies: readProxies({
      HTTP_PROXY: settings.http_proxy,
      HTTPS_PROXY: settings.https_proxy,
      NO_PROXY: settings.no_proxy,
    }),
    connect_timeout_ms: settings.upstream_connect_timeout_ms,
    ...own,
  })
}

import type {After} from '../base/delay.ts'
import type {Log} from '../base/log.ts'
import type {Pricing} from '../pricing/open.ts'
import type {PriceCache} from '../pricing/price-cache.ts'
import type {Remembered} from '../store/remembered.ts'

/** Nothing else may be written for long that would have them read again. */
const AGAIN_MS = 5_000

export interface RememberedPricesParts {
  readonly pricing: Pick<Pricing, 'refresh'>
  readonly memory: Pick<PriceCache, 'forget'>
  readonly log: Pick<Log, 'error'>
  readonly after: After
}

/** Installed prices: read again, all of them, when some changed. Those of before hold until they are read. */
export function rememberedPrices({pricing, memory, log, after}: RememberedPricesParts): Remembered & {close(): void} {
  let cancel = () => {}
  let closed = false
  const forget = () => {
    cancel()
    pricing.refresh().then(
      () => memory.forget(),
      fault => {
        if (closed) return
        log.error({fault}, 'installed prices could not be read; those of before are used')
        cancel()
        cancel = after(AGAIN_MS, forget)
      },
    )
  }
  return {
    of: new Set(['prices', 'price_revisions']),
    forget,
    close() {
      closed = true
      cancel()
    },
  }
}

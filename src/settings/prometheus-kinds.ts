import {kind, listOf, quoted, type SettingKind} from './kinds.ts'

const MOST_BUCKETS = 60
const MOST_KEYS = 20

/** Upper bounds of the buckets of a histogram, without the last one, which has none. */
export const buckets: SettingKind<readonly number[]> = {
  ...kind(
    `a comma separated list of at most ${MOST_BUCKETS} numbers above 0, each above the one before`,
    (text, wrong) => {
      const entries = text.split(',').map(entry => entry.trim())
      if (entries.length > MOST_BUCKETS) return undefined
      const bounds: number[] = []
      for (const entry of entries) {
        const bound = /^\d{1,12}(?:\.\d{1,9})?$/.test(entry) ? Number(entry) : Number.NaN
        if (!(bound > 0)) return wrong(`the entry ${quoted(entry)} is no number above 0`)
        if (bounds.length > 0 && bound <= bounds.at(-1)!)
          return wrong(`the entry ${quoted(entry)} is not above the one before`)
        bounds.push(bound)
      }
      return Object.freeze(bounds)
    },
  ),
  list: true,
  show: bounds => bounds.join(', '),
}

/** The name of the label of a key of metadata. */
export function metadataLabel(key: string): string {
  return `metadata_${key.replace(/[^a-zA-Z0-9_]/g, '_')}`
}

/** Keys of metadata that are labels: two of them have no label in common. */
export const labelKeys: SettingKind<readonly string[]> = {
  ...kind<readonly string[]>(`a comma separated list of at most ${MOST_KEYS} keys of metadata`, (text, wrong) => {
    const keys = [...new Set(text.split(',').map(entry => entry.trim()))].filter(Boolean)
    if (keys.length > MOST_KEYS || keys.some(key => key.length > 128)) return undefined
    const labels = new Map<string, string>()
    for (const key of keys) {
      const other = labels.get(metadataLabel(key))
      if (other !== undefined) return wrong(`${quoted(other)} and ${quoted(key)} would both be ${metadataLabel(key)}`)
      labels.set(metadataLabel(key), key)
    }
    return Object.freeze(keys)
  }),
  list: true,
  show: keys => keys.join(', '),
}

const EXTRA = ['apiKeyName', 'configName', 'source', 'payloadSizeRange', 'app', 'env'] as const

export const extraLabels = listOf(`${EXTRA.slice(0, -1).join(', ')} and ${EXTRA.at(-1)}`, entry =>
  EXTRA.find(name => name === entry),
)

/** The credential after `Basic ` in a header: base64 of USER:PASSWORD. */
export const basicCredential: SettingKind<string> = kind('base64 of USER:PASSWORD', text =>
  /^[A-Za-z0-9+/_-]{1,4096}={0,2}$/.test(text) ? text : undefined,
)

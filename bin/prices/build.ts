import {readGenaiPrices} from './genai.ts'
import {readAicost, readPiAi, readTokenlens} from './lists.ts'
import {merge} from './merge.ts'
import {type Reading, SOURCE_NAMES, type SourceName} from './offer.ts'
import {writeCatalogue, writeConflicts} from './write.ts'

/** The texts of the data files of each source. */
export type SourceTexts = Readonly<Record<SourceName, readonly string[]>>

const READERS: Readonly<Record<SourceName, (texts: readonly string[]) => Reading>> = {
  'genai-prices': readGenaiPrices,
  'pi-ai': readPiAi,
  tokenlens: readTokenlens,
  aicost: readAicost,
}

/**
 * The catalogue and the conflict report that `texts` make on the UTC date `as_of`. Pure: the same texts make the same
 * bytes.
 */
export function build(texts: SourceTexts, as_of: string): {catalogue: string; conflicts: string} {
  const readings = SOURCE_NAMES.map(name => READERS[name](texts[name]))
  const merged = merge(
    readings.flatMap(({offers}) => offers),
    Date.parse(`${as_of}T12:00:00Z`),
  )
  const refused = readings.flatMap(reading => reading.refused)
  return {catalogue: writeCatalogue(merged, as_of), conflicts: writeConflicts(merged, refused, as_of)}
}

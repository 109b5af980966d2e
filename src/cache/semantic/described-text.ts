import {type Embedder, type EmbeddingCharge, fits} from './embedder.ts'
import {featuresOf, type GateFeatures, isRelative} from './gate/index.ts'

/** A text as it is compared with others. */
export interface DescribedText {
  readonly vector: Float32Array
  readonly features: GateFeatures
  /** Its answer ages within hours. */
  readonly is_relative: boolean
}

/** Null for a text that cannot be compared: it is too long, or the embedder failed. */
export async function describeText(
  text: string,
  {embedder, features_key}: {readonly embedder: Embedder | null; readonly features_key: Uint8Array},
  charge: EmbeddingCharge | null,
): Promise<DescribedText | null> {
  const features = embedder && fits(text, embedder) ? featuresOf(text, features_key) : null
  const vector = features && embedder && (await embedder.embed(text, charge))
  return features && vector && {vector, features, is_relative: isRelative(text)}
}

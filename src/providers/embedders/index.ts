import type {EmbeddingPlace, EmbeddingWire} from '../../schema/embeddings.ts'
import type {Logins} from '../auth/login.ts'
import {geminiEmbeddings, vertexEmbeddings} from './google.ts'
import {azureEmbeddings, openaiEmbeddings} from './openai.ts'

const WIRES: Readonly<Record<string, (place: EmbeddingPlace, logins: Logins) => EmbeddingWire>> = {
  openai: openaiEmbeddings,
  'azure-openai': azureEmbeddings,
  google: geminiEmbeddings,
  'vertex-ai': vertexEmbeddings,
}

/** The words of a kind of service for embeddings; undefined for one that is not known. */
export function embeddingWire(kind: string, place: EmbeddingPlace, logins: Logins): EmbeddingWire | undefined {
  return Object.hasOwn(WIRES, kind) ? WIRES[kind]!(place, logins) : undefined
}

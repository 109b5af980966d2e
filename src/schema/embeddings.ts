/** A request for the vector of one text, as a service for embeddings takes it. */
export interface EmbeddingRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The answer to it, as far as it was understood; nothing of it is checked. */
export interface EmbeddingAnswer {
  readonly vector: readonly unknown[]
  /** The tokens of the text by the service's own count; null where it gave none. */
  readonly tokens: number | null
  /** The service says that it read a part of the text only. */
  readonly is_truncated: boolean
}

/** A service for embeddings, as the settings name it. */
export interface EmbeddingPlace {
  /** The operator's address; undefined: the provider's own. */
  readonly url: string | undefined
  readonly model: string | undefined
  readonly api_key: string | undefined
  /** The length of its vectors; undefined: the service decides. */
  readonly dimensions: number | undefined
}

/** The words of one kind of service. */
export interface EmbeddingWire {
  /** The kind of provider, by which its price is found. */
  readonly provider: string
  readonly model: string
  /** Its address. */
  readonly url: string
  /** The purpose that vectors are made for; vectors of two purposes are not compared. */
  readonly task: string
  request(text: string): Promise<EmbeddingRequest> | EmbeddingRequest
  /** Undefined: it is no such answer. */
  read(answer: unknown): EmbeddingAnswer | undefined
}

/** The kind of provider that examples name. */
export const EXAMPLE_KIND = 'openai'

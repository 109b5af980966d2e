/** Settings that cannot be started with: one sentence for each problem, none of which carries a secret. */
export class SettingsFault extends Error {
  readonly sentences: readonly string[]

  constructor(sentences: readonly string[]) {
    super(sentences.join('\n'))
    this.name = 'SettingsFault'
    this.sentences = sentences
  }
}

import {readFileSync} from 'node:fs'
import {join} from 'node:path'

/** The text of a file in `templates`, each `{{word}}` replaced. */
export function template(name: string, words: Readonly<Record<string, string>>): string {
  return readFileSync(join(import.meta.dirname, 'templates', `${name}.txt`), 'utf8').replace(
    /\{\{(\w+)\}\}/g,
    (_, word: string) => {
      const value = words[word]
      if (value === undefined) throw new Error(`the template ${name} asks for ${word}`)
      return value
    },
  )
}

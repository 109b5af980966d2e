import {readdirSync, readFileSync} from 'node:fs'
import {join, resolve} from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')

/** The comments of all files of code below the folders, each on one line, with its file. */
export function commentsIn(folders: readonly string[]): {readonly file: string; readonly text: string}[] {
  return codeFiles(folders).flatMap(file =>
    commentsOf(readFileSync(join(ROOT, file), 'utf8')).map(text => ({file, text})),
  )
}

/** Files of TypeScript below the folders of the repository. */
export function codeFiles(folders: readonly string[]): string[] {
  return folders.flatMap(folder =>
    readdirSync(join(ROOT, folder), {recursive: true, encoding: 'utf8'})
      .filter(name => name.endsWith('.ts'))
      .map(name => join(folder, name)),
  )
}

/** The texts of comments; lines of one comment are joined. */
export function commentsOf(text: string): string[] {
  return [...text.matchAll(/^[ \t]*\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*|[ \t]\/\/ .*$/gm)].map(
    ([comment]) =>
      comment
        .split('\n')
        .map(line =>
          line
            .replace(/^\s*(?:\/\*+|\*+\/|\*|\/\/)?/, '')
            .replace(/\*\/$/, '')
            .trim(),
        )
        .filter(Boolean)
        .join(' '),
  )
}

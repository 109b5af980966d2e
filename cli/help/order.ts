import {type Command, Help} from 'commander'

/** A heading of options, of a command's own or of all. */
const OPTIONS = /^(?:Global )?Options:/

/** The help of a group with its commands before the options, which are the same on every page. */
export function formatHelp(command: Command, helper: Help): string {
  const text = Help.prototype.formatHelp.call(helper, command, helper)
  if (!helper.visibleCommands(command).length) return text
  const parts = text.trimEnd().split(/\n\n+/)
  const options = parts.filter(part => OPTIONS.test(part))
  return `${[...parts.filter(part => !options.includes(part)), ...options].join('\n\n')}\n`
}

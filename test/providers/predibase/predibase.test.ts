import {predibase} from '../../../src/providers/predibase/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(predibase, {chatComplete: 3})
testHostile(predibase, ['chatComplete'])

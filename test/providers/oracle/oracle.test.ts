import {oracle} from '../../../src/providers/oracle/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(oracle, {chatComplete: 3})
testHostile(oracle, ['chatComplete'], {options: {oracle_compartment_id: 'ocid1.compartment.oc1..a'}})

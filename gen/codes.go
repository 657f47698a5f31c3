// SPDX-License-Identifier: Apache-2.0

package gen

import "slices"

// Built-in run-time codes 1 to 63; a schema's own start at 64. The numbers are the same in every language.
const (
	ShortNumber        = 1
	FixedNumber        = 2
	ReservedNumber     = 3
	RangeNumber        = 4
	EnumNumber         = 5
	DerivedNumber      = 6
	SizeNumber         = 7
	TrailingNumber     = 8
	WhereNumber        = 9
	ChecksumNumber     = 10
	PaddingNumber      = 11
	SwitchNumber       = 12
	TLVLengthNumber    = 13
	TLVUnknownNumber   = 14
	TLVDuplicateNumber = 15
	TLVMissingNumber   = 16
	TLVOrderNumber     = 17
	StringNumber       = 18
	CapacityNumber     = 19
	NoFitNumber        = 20
)

// builtinCodes are never changed.
var builtinCodes = [...]*Code{
	{ShortNumber, "E_SHORT", "the packet ends before this item"},
	{FixedNumber, "E_FIXED", "a fixed field has another value"},
	{ReservedNumber, "E_RESERVED", "reserved bits are set"},
	{RangeNumber, "E_RANGE", "the value is outside its range"},
	{EnumNumber, "E_ENUM", "the number is not a member of a closed enum"},
	{DerivedNumber, "E_DERIVED", "a derived field disagrees with what it describes"},
	{SizeNumber, "E_SIZE", "a size does not fit its container"},
	{TrailingNumber, "E_TRAILING", "bytes are left after the last item"},
	{WhereNumber, "E_WHERE", "a constraint does not hold"},
	{ChecksumNumber, "E_CHECKSUM", "the checksum is wrong"},
	{PaddingNumber, "E_PADDING", "padding is not zero"},
	{SwitchNumber, "E_SWITCH", "no layout exists for this selector"},
	{TLVLengthNumber, "E_TLV_LENGTH", "the element's length does not fit its value"},
	{TLVUnknownNumber, "E_TLV_UNKNOWN", "an unknown element must be understood"},
	{TLVDuplicateNumber, "E_TLV_DUPLICATE", "an element occurs twice"},
	{TLVMissingNumber, "E_TLV_MISSING", "a required element is missing"},
	{TLVOrderNumber, "E_TLV_ORDER", "elements are out of order"},
	{StringNumber, "E_STRING", "text is not valid UTF-8"},
	{CapacityNumber, "E_CAPACITY", "the caller's memory is too small"},
	{NoFitNumber, "E_NOFIT", "a value does not fit its field"},
}

// BuiltinCodes returns the codes that every protocol has, by number.
func BuiltinCodes() []*Code { return slices.Clone(builtinCodes[:]) }
